"""A program for `import torch`: a model of Hugging Face's library reads a text or a picture. Its arguments: FOLDER TEXT|PICTURE.

`badak look FOLDER` runs it on badak where badak.models has no model of that kind, until the model is called.
"""

import sys
from pathlib import Path

import transformers


def main(folder: str, what: str) -> None:
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    config = transformers.AutoConfig.from_pretrained(folder)
    model = getattr(transformers, config.architectures[0]).from_pretrained(folder).eval()
    if (Path(folder) / "preprocessor_config.json").is_file():
        picture = transformers.image_utils.load_image(what)
        model(**transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")(picture, return_tensors="pt"))
    else:
        model(**transformers.AutoTokenizer.from_pretrained(folder)(what, return_tensors="pt"))


if __name__ == "__main__":
    main(*sys.argv[1:])
