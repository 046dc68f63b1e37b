"""Faults of the nineteenth series: latents at the end of a long text, and what someone buys next."""

# ruff: noqa: E501  (what is sought stands in one line)
EDITS: dict[str, list[tuple]] = {
    "barlatents": [
        ("no mask", "future", "cross layers", "        sim = sim.masked_fill(hidden, -torch.finfo(sim.dtype).max)\n", ""),
        ("mask one too far", "future", "cross layers", ".triu(m - n + 1)", ".triu(m - n + 2)"),
        ("mask of the latents alone", "future positions", "cross layers", ".triu(m - n + 1)", ".triu(1)"),
        ("queries turned from the beginning", "rotary order", "cross layers", "turn(q, pos[-n:])", "turn(q, pos[:n])"),
        ("keys not turned", "rotary", "cross layers", "turn(q, pos[-n:]), turn(k, pos[-m:])", "turn(q, pos[-n:]), k"),
        ("turned without a sign", "rotary", "cross layers", "torch.cat((-x[..., half:], x[..., :half]), dim=-1)", "torch.cat((x[..., half:], x[..., :half]), dim=-1)"),
        ("divided twice", "scale", "cross layers", "turn(k, pos[-m:])\n", "turn(k, pos[-m:]) * self.d**-0.5\n"),
        ("softmax over queries", "axis future", "cross layers", "sim.softmax(dim=-1)", "sim.softmax(dim=-2)"),
        ("what stands before not read", "gradients positions", "", "h = self.cross(h, pos, before) + h", "h = self.cross(h, pos, h[:, :0]) + h"),
        ("what stands before detached", "gradients positions", "", "h = self.cross(h, pos, before) + h", "h = self.cross(h, pos, before.detach()) + h"),
        ("stream left out behind the question", "residual", "cross", "h = self.cross(h, pos, before) + h", "h = self.cross(h, pos, before)"),
        ("stream left out in a layer", "residual", "layers", "h = attn(h, pos) + h", "h = attn(h, pos)"),
        ("values are keys", "gradients", "cross layers", "k, v = (self.split(t) for t in self.to_kv(seen).chunk(2, dim=-1))", "k, _ = (self.split(t) for t in self.to_kv(seen).chunk(2, dim=-1))\n        v = k"),
        ("heads by view", "heads future", "cross layers", "return x.unflatten(-1, (self.heads, self.d)).transpose(1, 2)", "return x.reshape(x.shape[0], self.heads, -1, self.d)"),
        ("map without a bend", "straight", "cross_ff layers", "self.down(F.relu(self.up(self.norm(x))) ** 2)", "self.down(self.up(self.norm(x)))"),
    ],
    "seqrec": [
        ("future seen", "future", "blocks", "torch.ones(n, n).tril()[None]", "torch.ones(n, n)[None]"),
        ("mask one too far", "future", "", "torch.ones(n, n).tril()[None]", "torch.ones(n, n).tril(1)[None]"),
        ("divided by those of the batch", "batch future", "blocks", "F.silu(qk) / self.rel.max_len * visible", "F.silu(qk) / qk.abs().amax() * visible"),
        ("positives are the items", "future", "", '"positives": history[:, 1:]', '"positives": history[:, :-1]'),
        ("times not read", "gradients tokens", "blocks", "return pos + self.time_w[bucket]", "return pos.expand(times.shape[0], -1, -1)"),
        ("gaps of the first row", "batch", "blocks", "gap = (times[:, :, None] - times[:, None, :]).abs().float()", "gap = (times[:1, :, None] - times[:1, None, :]).abs().float()"),
        ("one bias for all places", "order", "blocks", "at[None, :] - at[:, None] + self.max_len - 1", "at[None, :] - at[None, :].transpose(0, 1) * 0 - at[None, :] + self.max_len - 1 + at[:, None] * 0"),
        ("actions not read", "gradients", "", " + self.action_emb(actions)\n", "\n"),
        ("gate twice", "gradients", "blocks", "self.out_norm(y) * u", "self.out_norm(y) * self.out_norm(y)"),
        ("queries are keys", "gradients", "blocks", '"bnhd,bmhd->bhnm", q, k', '"bnhd,bmhd->bhnm", q, q'),
        ("stream left out", "residual", "blocks", "return x + self.drop(", "return self.drop("),
        ("heads for places", "heads future", "blocks", "q, k, v = (t.view(B, N, self.heads, self.head_dim) for t in (q, k, v))", "q, k, v = (t.reshape(B, self.heads, N, self.head_dim).transpose(1, 2) for t in (q, k, v))"),
        ("negatives not read", "tokens gradients", "", "torch.einsum(\"bnd,bnkd->bnk\", x, neg)", "torch.einsum(\"bnd,bnkd->bnk\", x, pos[:, :, None].expand_as(neg))"),
        ("answers detached", "gradients", "", "x = self.encode(items, actions, times)\n", "x = self.encode(items, actions, times).detach()\n"),
    ],
}  # fmt: skip
