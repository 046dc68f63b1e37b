"""page: the record of a look as one HTML file.

page.py        puts it together
template.html  its frame; words.json: what it says, in English and Korean; *.css: how it looks
main.js        the page from above to below; view.js: what is being looked at, and who draws it again when that changes;
               record.js and numbers.js: the record; dom.js: elements; words.js: texts
strip.js, answers.js, picture.js            what went in and what came out
heads.js, lines.js, matrix.js               attention
layers.js, lens.js, gradients.js            from layer to layer
floor.js, player.js, markdown.js, math.js   the floor under a box, its backward step by step, formulas
keys.js                                     the keyboard
"""

from badak.inspect.visualize.page.page import page as page
