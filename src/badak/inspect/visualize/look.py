"""`badak.look`: the door to the room. What is behind it is imported when it is first asked."""

from typing import Any

from badak.core.public_api.table import reach


def look(
    model: Any,
    batch: Any,
    *,
    tokenizer: Any = None,
    loss: Any = None,
    labels: Any = None,
    classes: Any = None,
    kind: str | None = None,
    title: str | None = None,
    most: int = 64,
    place: int | None = None,
) -> Any:
    """What happens in one run of a model: attentions, residual stream, prediction at every layer, gradients, each operation.

        badak.look(model, ids, tokenizer=tokenizer).save("look.html")

    Gives a `Look`: `record`, a dict that JSON can hold; to_html() and save(path), a page that needs nothing else; in a
    notebook it shows itself. The model runs in eval mode and is left exactly as it was; the numbers are those of the run,
    which computes the same bits with nobody looking. docs/how-to/look.md says what the page shows.

    Raises ArgumentTypeError for what is no module and no batch, ArgumentError for a model that does not take the batch. PyTorch
    has no such
    function.

    Args:
        model: a module
        batch: what the model is called with: a tensor, a tuple of arguments, a dict of them by name, or the pair of both;
            of several rows the first is looked at
        tokenizer: what gives an id its text: something with decode, a list, a dict or a function
        loss: function of what the model gives, a number to differentiate
        labels: or the right answers: an id for each token (-100: none), or the class. Without both it is the loss that
            the model gives itself, else minus the log-probability of the most likely answer at `place`
        classes: names of the classes
        kind: "causal", "bidirectional", "encoder-decoder" or "image"; found by itself where it is None
        title: what the page is called; the model's name unless given
        most: tokens that are shown, of a longer text the first
        place: the token whose numbers are shown in each operation; the last that has a label unless given

    Returns: a `Look`

    Example:
        >>> model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        >>> page = badak.look(model, badak.randn(1, 4, 8)).to_html()
        >>> page.startswith("<!")
        True
    """
    given = {
        "tokenizer": tokenizer, "loss": loss, "labels": labels, "classes": classes, "kind": kind, "title": title, "most": most,
        "place": place,
    }  # fmt: skip
    return reach("badak.inspect.visualize.looking").look_at(model, batch, **given)
