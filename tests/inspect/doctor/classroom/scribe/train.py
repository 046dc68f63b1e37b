"""A small GPT that writes recipes letter by letter: model, data and trainer in files of their own."""

import torch
from data import CharDataset, corpus
from model import GPT, GPTConfig
from trainer import Trainer, TrainerConfig


def main():
    torch.manual_seed(1337)
    text = corpus(600)
    cut = int(0.9 * len(text))
    block_size = 32
    train_set = CharDataset(text[:cut], block_size, sorted(set(text)))
    val_set = CharDataset(text[cut:], block_size, sorted(set(text)))
    model = GPT(GPTConfig(vocab_size=train_set.vocab_size, block_size=block_size))
    config = TrainerConfig(max_iters=60, batch_size=24, learning_rate=3e-3)
    trainer = Trainer(config, model, train_set, val_set)

    def report(trainer):
        if trainer.iter_num % 20 == 0:
            print(f"iter {trainer.iter_num}: loss {trainer.loss.item():.3f}, val {trainer.evaluate():.3f}")

    trainer.callback = report
    trainer.run()
    ids = model.generate(train_set.encode("mix ")[None], 60)
    print(train_set.decode(ids[0].tolist()))


if __name__ == "__main__":
    main()
