"""Faults of the ninth series: a token behind the text that gathers it, and speech with lengths."""

# ruff: noqa: E501  (what is sought stands in one line)
EDITS: dict[str, list[tuple]] = {
    "endtoken": [
        ("padding seen", "padding", "layers", "key_padding_mask=ignore, ", ""),
        ("mask of the front", "padding blind", "layers", "torch.cat([review == self.PAD, torch.zeros(B, 1, dtype=torch.bool)], dim=1)", "torch.cat([torch.zeros(B, 1, dtype=torch.bool), review == self.PAD], dim=1)"),
        ("mask inverted", "padding blind numbers tokens", "layers", "[review == self.PAD, torch", "[review != self.PAD, torch"),
        ("the last word gathers", "padding tokens", "", "self.final(x[:, -1])", "self.final(x[:, -2])"),
        ("mean of all", "padding", "", "self.final(x[:, -1])", "self.final(x.mean(1))"),
        ("no places", "order gradients", "", " + self.place(torch.arange(T))", ""),
        ("places of the rows", "order", "", "self.place(torch.arange(T))", "self.place(torch.arange(B))[:, None]"),
        ("no residual attention", "residual", "layers", "src = src + self.dropout(y)\n        y = self.linear2", "src = self.dropout(y)\n        y = self.linear2"),
        ("no residual map", "residual", "layers", "return src + self.dropout(y)", "return self.dropout(y)"),
        ("batch first forgotten", "batch order", "layers", "dropout=dropout, batch_first=True", "dropout=dropout", "key_padding_mask=ignore, ", ""),
        ("stars from the mean of rows", "batch", "", "self.rate(self.final(x[:, -1]))", "self.rate(self.final(x[:, -1] - x[:, -1].mean(0)))"),
        ("one layer for all", "shared", "layers", "nn.ModuleList(EncoderLayer(width, heads) for _ in range(n_layers))", "nn.ModuleList([EncoderLayer(width, heads)] * n_layers)"),
        ("words detached", "gradients", "word", "x = self.word(review) + ", "x = self.word(review).detach() + "),
        ("gatherer alone", "tokens gradients positions", "", "            x = layer(x, ignore)\n", "            x = torch.cat([x[:, :-1], layer(x[:, -1:], None)], dim=1)\n"),
    ],
    "dictation": [
        ("letters not moved", "future", "", "torch.cat([start, letters[:, :-1]], dim=1)", "letters"),
        ("no mask ahead", "future", "decoder", "tgt_mask=ahead, ", ""),
        ("mask one too far", "future", "decoder", ".triu(1)", ".triu(2)"),
        ("sound's end heard in the encoder", "padding", "encoder", "layer(x, src_key_padding_mask=hidden)", "layer(x)"),
        ("sound's end asked by the decoder", "padding", "decoder", "memory_key_padding_mask=hidden, ", ""),
        ("lengths not halved", "padding", "encoder decoder", "(mel_len + 1) // 2, x.size(1)", "mel_len, x.size(1)"),
        ("sound not cut before the convolution", "padding", "conv encoder", "(mel * inside[:, :, None]).transpose(1, 2)", "mel.transpose(1, 2)"),
        ("sound without places", "order", "", "        x = self.places(x)\n", ""),
        ("letters without places", "order", "", "self.places(self.letters(given) * math.sqrt(32))", "self.letters(given) * math.sqrt(32)"),
        ("places by rows", "order", "places", "self.table[:, : x.size(1)]", "self.table[0, : x.size(0), None]"),
        ("memory detached", "gradients", "encoder", "y = self.decoder(y, x, tgt", "y = self.decoder(y, x.detach(), tgt"),
        ("sound of the row before", "batch", "", "y = self.decoder(y, x, tgt", "y = self.decoder(y, x.roll(1, 0), tgt"),
        ("decoder's dropout always", "random", "", "logits = self.head(y)", "logits = self.head(F.dropout(y, 0.1))"),
        ("one encoder layer", "shared", "encoder", "nn.ModuleList([nn.TransformerEncoderLayer(d, heads, 64, batch_first=True) for _ in range(layers)])", "nn.ModuleList([nn.TransformerEncoderLayer(d, heads, 64, batch_first=True)] * layers)"),
    ],
}  # fmt: skip
