"""Two small sets of sentences that a small model can learn by heart in a minute."""

# Ten well-known sentences.
TEN_SENTENCES = (
    "The quick brown fox jumps over the lazy dog",
    "A journey of a thousand miles begins with a single step",
    "To be or not to be that is the question",
    "All that glitters is not gold but it is very valuable",
    "Knowledge is power but enthusiasm pulls the switch",
    "The only thing we have to fear is fear itself",
    "In the end we will remember not the words of our enemies",
    "Life is what happens when you’re busy making other plans",
    "To succeed in life you need two things ignorance and confidence",
    "The future belongs to those who believe in the beauty of their dreams",
)

# Proverbs, with a thought added.
PROVERBS = (
    "Great minds think alike, but they also think differently",
    "Actions speak louder than words, so let your work answer",
    "The early bird catches the worm, but the second mouse gets the cheese",
    "Still waters run deep, so listen before you judge",
    "Many hands make light work, but too many cooks spoil the broth",
    "Look before you leap, but do not wait too long",
    "Rome was not built in a day, so lay one stone each morning",
    "When the cat is away the mice will play",
    "Strike while the iron is hot, but mind your fingers",
    "The pen is mightier than the sword, if the hand is steady",
    "Every cloud has a silver lining, even the dark ones",
    "Slow and steady wins the race, but only if you start",
    "Out of sight, out of mind, so write to old friends",
    "Better late than never, but never late is better",
    "Curiosity killed the cat, but satisfaction brought it back",
    "You cannot judge a book by its cover, so open it",
    "All roads lead to Rome, but some have a better view",
    "Two heads are better than one, when both of them listen",
    "Do not count your chickens before they hatch",
    "A friend in need is a friend indeed, so be one",
    "The apple does not fall far from the tree",
    "Make hay while the sun shines, and rest when it rains",
    "Empty vessels make the most noise, so fill yours first",
    "Where there is a will there is a way, and often a map",
    "Easy come, easy go, so hold lightly what you win",
    "Words once spoken cannot be called back",
    "Laughter is the best medicine, and it has no price",
    "Good fences make good neighbours, but gates make friends",
    "Little strokes fell great oaks, if you keep the axe sharp",
    "He who asks a question is a fool for a minute, who does not remains one",
)
