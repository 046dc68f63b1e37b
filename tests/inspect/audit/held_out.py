"""Faults written into the texts of models that the audit was not tuned on: `python -m tests.inspect.audit.held_out [-v] [MODEL ...]`.

The models are those of tests/inspect/audit/heldout. Each fault is an edit of the text. Found means: one of its probes has a finding; in the right
module means: in one of those named, or inside of it. Anything else that is found is counted, too.
"""

# ruff: noqa: E501  (what is sought stands in one line)
import re
import sys
import types
from pathlib import Path

import badak
from badak.core.errors import BadakError
from tests.inspect.edits import edits_of

PLACE = Path(__file__).parent / "heldout"
NAMES = sorted(path.stem for path in PLACE.glob("*.py"))

# model: (fault, probes, modules, old, new, old, new ...)
EDITS: dict[str, list[tuple]] = {
    "mingpt": [
        ("no mask", "future", "blocks.0.attn", "sim = sim.masked_fill(mask, -torch.finfo(sim.dtype).max)", "pass"),
        ("mask one too far", "future", "blocks.0.attn", "triu(s - t + 1)", "triu(s - t + 2)"),
        ("mask turned over", "future blind", "blocks.0.attn", ".triu(s - t + 1)", ".tril(s - t - 1)"),
        ("softmax over queries", "axis future", "blocks.0.attn", "sim.softmax(dim=-1)", "sim.softmax(dim=-2)"),
        ("softmax over heads", "axis", "blocks.0.attn", "sim.softmax(dim=-1)", "sim.softmax(dim=1)"),
        ("heads by view", "future", "blocks.0.attn", "q = self.to_q(x).reshape(b, t, self.h, self.d)", "q = self.to_q(x).reshape(b, self.h, t, self.d).transpose(1, 2)", "k, v = k.reshape(b, t, self.h, self.d), v.reshape(b, t, self.h, self.d)", "k, v = k.reshape(b, self.h, t, self.d).transpose(1, 2), v.reshape(b, self.h, t, self.d).transpose(1, 2)"),
        ("merged without turning back", "future", "blocks.0.attn", "bhts,bshd->bthd", "bhts,bshd->bhtd"),
        ("no residual attn", "residual", "blocks.0", "x = x + a\n", "x = a\n"),
        ("no residual ff", "residual", "blocks.0", "x = x + self.ff(self.ln2(x))", "x = self.ff(self.ln2(x))"),
        ("no positions", "order", "", " + self.pos_emb[:, start : start + t])", ")"),
        ("positions along the batch", "order", "", "self.pos_emb[:, start : start + t])", "self.pos_emb[:, :b].transpose(0, 1))"),
        ("positions of zero width", "order", "", "self.pos_emb[:, start : start + t])", "self.pos_emb[:, start : start + 1])"),
        ("one block", "shared", "blocks", "[Block(cfg) for _ in range(cfg.n_layer)]", "[Block(cfg)] * cfg.n_layer"),
        ("cache from 0", "cache", "", "0 if past_key_values is None else past_key_values[0][0].size(1)", "0"),
        ("cache mask of the first", "cache", "blocks.0.attn", "triu(s - t + 1)", "triu(1)"),
        ("cache grows at the wrong end", "cache", "blocks.0.attn", "k = torch.cat([layer_past[0], k], dim=1)", "k = torch.cat([k, layer_past[0]], dim=1)"),
        ("norm over time", "future", "ln_f blocks", "self.ln_f = nn.LayerNorm(cfg.n_embd)", "self.ln_f = nn.LayerNorm((14, cfg.n_embd))"),
        ("detached", "gradients", "blocks.1 blocks", "x, present = block(x, None", "x, present = block(x.detach() if i == 2 else x, None"),
        ("no_grad", "gradients", "tok_emb", "x = self.drop(self.tok_emb(idx) + self.pos_emb[:, start : start + t])", "with torch.no_grad():\n            x = self.drop(self.tok_emb(idx) + self.pos_emb[:, start : start + t])"),
        ("a block is skipped", "gradients", "blocks.2", "enumerate(self.blocks)", "enumerate(self.blocks[:-1])"),
        ("mean of rows", "batch", "", "logits = self.head(self.ln_f(x))", "logits = self.head(self.ln_f(x - x.mean(0)))"),
        ("dropout always", "random", "", "self.attn_drop(sim.softmax(dim=-1))", "F.dropout(sim.softmax(dim=-1), 0.1)"),
        ("train only", "modes", "blocks.0", "x = x + a\n", "x = x + (a if self.training else 0.5 * a)\n"),
        ("table of zeros", "tokens copies gradients", "tok_emb", "nn.init.normal_(self.pos_emb, std=0.02)", "nn.init.normal_(self.pos_emb, std=0.02)\n        nn.init.ones_(self.tok_emb.weight)"),
        ("optimizer before the head", "optimizers", "head", "model = GPT(GPTConfig())", "model = GPT(GPTConfig())\n    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)\n    model.head = nn.Linear(32, 41, bias=False)", '"kind": None', '"optimizer": opt'),
        ("blocks in a list", "gradients", "blocks", "nn.ModuleList([Block(cfg) for _ in range(cfg.n_layer)])", "[Block(cfg) for _ in range(cfg.n_layer)]"),
    ],
    "imdb": [
        ("padding seen", "padding", "encoder", "self.encoder(x, src_key_padding_mask=pad)", "self.encoder(x)"),
        ("padding in the mean", "padding", "", "pooled = (x * keep).sum(1) / keep.sum(1)", "pooled = x.mean(1)"),
        ("padding in the maximum", "padding", "", "pooled = (x * keep).sum(1) / keep.sum(1)", "pooled = x.max(1).values"),
        ("the last place", "padding", "", "pooled = (x * keep).sum(1) / keep.sum(1)", "pooled = x[:, -1]"),
        ("divided by all", "padding", "", "keep.sum(1)\n", "x.size(1)\n"),
        ("mask inverted", "padding blind", "encoder", "src_key_padding_mask=pad", "src_key_padding_mask=~pad"),
        ("batch_first forgotten", "batch", "encoder", ", batch_first=True)", ")", "src_key_padding_mask=pad", "src_key_padding_mask=None"),
        ("positions forgotten", "order", "pos_encoder", "x = x + self.pe[:, : x.size(1)]", "pass"),
        ("positions by rows", "order", "pos_encoder", "pe = torch.zeros(1, max_len, d_model)", "pe = torch.zeros(max_len, 1, d_model)", "pe[0, :, 0::2]", "pe[:, 0, 0::2]", "pe[0, :, 1::2]", "pe[:, 0, 1::2]", "self.pe[:, : x.size(1)]", "self.pe[: x.size(0)]"),
        ("never called", "order", "", "        x = self.pos_encoder(x)\n", ""),
        ("mean over the batch", "batch", "", "return self.classifier(pooled)", "return self.classifier(pooled - pooled.mean(0, keepdim=True))"),
        ("softmax over rows", "batch", "", "return self.classifier(pooled)", "return self.classifier(pooled).softmax(0)"),
        ("frozen by mistake", "gradients", "encoder", "keep = (~pad)", "x = x.data\n        keep = (~pad)"),
        ("same layer", "shared", "encoder", "self.encoder = nn.TransformerEncoder(layer, num_layers)", "self.encoder = nn.TransformerEncoder(layer, num_layers)\n        self.encoder.layers[1] = self.encoder.layers[0]"),
        ("copies", "copies", "encoder", "        for p in self.parameters():\n            if p.dim() > 1:\n                nn.init.xavier_uniform_(p)\n", ""),
        ("classifier's dropout", "random", "", "return self.classifier(pooled)", "return self.classifier(torch.nn.functional.dropout(pooled, 0.2))"),
        ("first word only", "gradients positions tokens", "", "return self.classifier(pooled)", "return self.classifier(self.embedding(text)[:, 0])"),
        ("ids cut", "tokens positions", "", "self.embedding(text)", "self.embedding(text.clamp(max=2))"),
    ],
    "simplevit": [
        ("no positions", "order gradients", "", "        x = x + self.pos_embedding\n", ""),
        ("no residual attn", "residual", "transformer", "x = attn(x) + x", "x = attn(x)"),
        ("no residual ff", "residual", "transformer", "x = ff(x) + x", "x = ff(x)"),
        ("softmax over queries", "axis", "transformer.layers.0.0", "nn.Softmax(dim=-1)", "nn.Softmax(dim=-2)"),
        ("softmax over heads", "axis", "transformer.layers.0.0", "nn.Softmax(dim=-1)", "nn.Softmax(dim=1)"),
        ("softmax over the batch", "batch axis", "transformer.layers.0.0", "nn.Softmax(dim=-1)", "nn.Softmax(dim=0)"),
        ("tokens and rows mixed", "batch", "", "out = out.transpose(1, 2).reshape(b, n, -1)", "out = out.transpose(1, 2).reshape(n, b, -1).transpose(0, 1)"),
        ("norm over the batch", "batch", "", "x = self.dropout(x)", "x = (x - x.mean(0)) / (x.std(0) + 1e-5)"),
        ("layers made once", "shared", "transformer.layers", "        for _ in range(depth):\n            self.layers.append(nn.ModuleList([Attention(dim), FeedForward(dim, 64)]))", "        layer = nn.ModuleList([Attention(dim), FeedForward(dim, 64)])\n        for _ in range(depth):\n            self.layers.append(layer)"),
        ("last layer returned early", "gradients", "transformer", "            x = ff(x) + x\n        return self.norm(x)", "            x = ff(x) + x\n            return self.norm(x)"),
        ("patches detached", "gradients", "to_patch_embedding", "self.to_patch_embedding(x)", "self.to_patch_embedding(x).detach()"),
        ("roots of what is negative", "numbers", "transformer.layers.0.0", "self.attend(dots)", "self.attend(dots.sqrt())"),
        ("layers not registered", "gradients", "transformer", "self.layers = nn.ModuleList([])", "self.layers = []"),
        ("picture does not matter", "tokens gradients positions", "", "x = torch.cat((cls, x), dim=1)", "x = torch.cat((cls, x * 0), dim=1)"),
        ("optimizer lacks the token", "optimizers", "", 'return {"model": ViT(), ', 'model = ViT()\n    opt = torch.optim.SGD([p for n, p in model.named_parameters() if "cls" not in n], lr=0.1)\n    return {"optimizer": opt, "model": model, '),
    ],
    "annotated": [
        ("decoder sees all", "future", "decoder", "(tgt != pad).unsqueeze(-2) & subsequent_mask(tgt.size(-1))", "(tgt != pad).unsqueeze(-2)"),
        ("mask one too far", "future", "decoder", "diagonal=1) == 0", "diagonal=2) == 0"),
        ("mask ignored in the decoder", "future padding", "decoder", "self.self_attn(x, x, x, tgt_mask)", "self.self_attn(x, x, x, None)"),
        ("source's padding in the encoder", "padding", "encoder", "self.self_attn(x, x, x, mask)", "self.self_attn(x, x, x)"),
        ("source's padding in the decoder", "padding", "decoder", "self.src_attn(x, m, m, src_mask)", "self.src_attn(x, m, m)"),
        ("residual left out", "residual", "encoder decoder", "return x + self.dropout(sublayer(self.norm(x)))", "return self.dropout(sublayer(self.norm(x)))"),
        ("memory not used", "gradients", "encoder", "m = memory", "m, src_mask = x, None"),
        ("memory detached", "gradients", "encoder", "m = memory", "m = memory.detach()"),
        ("one layer", "shared", "encoder", "[copy.deepcopy(module) for _ in range(n)]", "[module for _ in range(n)]"),
        ("heads by view", "future", "decoder", ".view(nbatches, -1, self.h, self.d_k).transpose(1, 2)", ".view(nbatches, self.h, -1, self.d_k)"),
        ("heads not turned back", "future", "decoder", "x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)", "x.contiguous().view(nbatches, -1, self.h * self.d_k)"),
        ("softmax over queries", "axis", "encoder decoder", "scores.softmax(dim=-1)", "scores.softmax(dim=-2)"),
        ("softmax over heads", "axis", "encoder decoder", "scores.softmax(dim=-1)", "scores.softmax(dim=1)"),
        ("no positions in the source", "order", "src_embed", "nn.Sequential(Embeddings(d_model, src_vocab), PositionalEncoding(d_model))", "nn.Sequential(Embeddings(d_model, src_vocab))"),
        ("no positions in the target", "order", "tgt_embed", "nn.Sequential(Embeddings(d_model, tgt_vocab), PositionalEncoding(d_model))", "nn.Sequential(Embeddings(d_model, tgt_vocab))"),
        ("positions by rows", "order", "src_embed tgt_embed", "self.pe[:, : x.size(1)]", "self.pe[0, : x.size(0)].unsqueeze(1)"),
        ("copies", "copies", "encoder", "        for p in self.parameters():\n            if p.dim() > 1:\n                nn.init.xavier_uniform_(p)\n", ""),
        ("log_softmax over positions", "future", "", "dim=-1)\n\n\ndef subsequent", "dim=1)\n\n\ndef subsequent"),
        ("one attention for both", "shared gradients", "decoder", "m = memory", "m, self.__dict__['_once'] = memory, 1", "self.src_attn(x, m, m, src_mask)", "self.self_attn(x, m, m, src_mask)"),
    ],
    "bertmlm": [
        ("padding seen", "padding", "layer.0.attention", "scores = scores + attention_mask", "pass"),
        ("mask inverted", "padding", "layer.0.attention", "(1.0 - attention_mask[:, None, None, :].float())", "attention_mask[:, None, None, :].float()"),
        ("mask of ones added", "padding", "layer.0.attention", "(1.0 - attention_mask[:, None, None, :].float()) * -10000.0", "attention_mask[:, None, None, :].float()"),
        ("mask too weak", "padding", "layer.0.attention", "-10000.0", "-1.0"),
        ("no positions", "order gradients", "embeddings", "        e = e + self.position_embeddings(self.position_ids[:, : input_ids.size(1)])\n", ""),
        ("positions by rows", "order", "embeddings", "self.position_ids[:, : input_ids.size(1)]", "self.position_ids[0, : input_ids.size(0), None]"),
        ("types forgotten", "gradients", "embeddings", " + self.token_type_embeddings(token_type_ids)", ""),
        ("softmax over queries", "axis", "layer.0.attention", "F.softmax(scores, dim=-1)", "F.softmax(scores, dim=-2)"),
        ("softmax over rows", "batch axis", "layer.0.attention", "F.softmax(scores, dim=-1)", "F.softmax(scores, dim=0)"),
        ("no residual attn", "residual", "layer.0", "self.attention_norm(self.dropout(self.attention_dense(a)) + x)", "self.attention_norm(self.dropout(self.attention_dense(a)))"),
        ("no residual out", "residual", "layer.0", "self.output_norm(self.dropout(y) + x)", "self.output_norm(self.dropout(y))"),
        ("tie lost", "ties", "decoder", "self.decoder.weight = self.embeddings.word_embeddings.weight", "self.decoder.weight = nn.Parameter(self.embeddings.word_embeddings.weight.detach().clone())"),
        ("one layer", "shared", "layer", "[BertLayer(hidden, heads, 64) for _ in range(layers)]", "[BertLayer(hidden, heads, 64)] * layers"),
        ("mean of rows", "batch", "", "self.decoder(self.transform(h))", "self.decoder(self.transform(h) + h.mean(0, keepdim=True))"),
        ("key for value", "gradients", "layer.0.attention", "self.transpose_for_scores(self.value(hidden_states))", "self.transpose_for_scores(self.key(hidden_states))"),
        ("embeddings detached", "gradients", "embeddings", "return self.dropout(self.LayerNorm(e))", "return self.dropout(self.LayerNorm(e.detach()))"),
        ("dropout always", "random", "", "probs = self.dropout(F.softmax(scores, dim=-1))", "probs = F.dropout(F.softmax(scores, dim=-1), 0.1)"),
        ("heads not turned back", "order padding positions", "layer.0.attention", "torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()", "torch.matmul(probs, v).contiguous()", "context.view(context.size(0), context.size(1), -1)", "context.view(context.size(0), context.size(2), -1)"),
    ],
    "llamac": [
        ("no mask", "future", "layers.0.attention", "is_causal=True", "is_causal=False"),
        ("angles of half", "rotary", "layers.0.attention", "torch.outer(torch.arange(end), freqs).float()", "torch.outer(torch.arange(end), freqs).float()\n    freqs[:, dim // 4 :] = 0"),
        ("other pairs", "rotary", "layers.0.attention", "xk_r, xk_i = xk.float().reshape(xk.shape[:-1] + (-1, 2)).unbind(-1)", "xk_r, xk_i = xk.float().reshape(xk.shape[:-1] + (2, -1)).unbind(-2)"),
        ("sign of the sine", "rotary", "layers.0.attention", "xq_r * cos - xq_i * sin", "xq_r * cos + xq_i * sin"),
        ("keys turned back", "rotary", "layers.0.attention", "torch.stack([xk_r * cos - xk_i * sin, xk_r * sin + xk_i * cos]", "torch.stack([xk_r * cos + xk_i * sin, -xk_r * sin + xk_i * cos]"),
        ("keys not turned", "rotary", "layers.0.attention", "return xq_out.type_as(xq), xk_out.type_as(xk)", "return xq_out.type_as(xq), xk"),
        ("queries not turned", "rotary", "layers.0.attention", "return xq_out.type_as(xq), xk_out.type_as(xk)", "return xq, xk_out.type_as(xk)"),
        ("not turned at all", "order", "", "        xq, xk = apply_rotary_emb(xq, xk, freqs_cos, freqs_sin)\n", ""),
        ("heads of keys in turn", "heads", "layers.0.attention", "xk, xv = repeat_kv(xk, self.n_rep), repeat_kv(xv, self.n_rep)", "xk, xv = xk.repeat(1, 1, self.n_rep, 1), xv.repeat(1, 1, self.n_rep, 1)"),
        ("values in turn", "heads", "layers.0.attention", "xk, xv = repeat_kv(xk, self.n_rep), repeat_kv(xv, self.n_rep)", "xk, xv = repeat_kv(xk, self.n_rep), xv.repeat(1, 1, self.n_rep, 1)"),
        ("no residual attn", "residual", "layers.0", "h = x + self.attention(", "h = self.attention("),
        ("no residual mlp", "residual", "layers.0", "return h + self.feed_forward(self.ffn_norm(h))", "return self.feed_forward(self.ffn_norm(h))"),
        ("first input in the sum", "residual gradients", "layers.0", "return h + self.feed_forward(self.ffn_norm(h))", "return x + self.feed_forward(self.ffn_norm(h))"),
        ("gate not used", "gradients", "layers.0.feed_forward", "F.silu(self.w1(x)) * self.w3(x)", "F.silu(self.w1(x))"),
        ("norm over time", "future", "layers.0.attention_norm layers", "x.pow(2).mean(-1, keepdim=True)", "x.pow(2).mean((1, -1), keepdim=True)"),
        ("norm over rows", "batch", "layers.0.attention_norm layers", "x.pow(2).mean(-1, keepdim=True)", "x.pow(2).mean((0, -1), keepdim=True)"),
        ("heads by view", "future", "layers.0.attention", "xq, xk, xv = xq.transpose(1, 2), xk.transpose(1, 2), xv.transpose(1, 2)", "xq, xk, xv = (z.reshape(bsz, self.n_local_heads, seqlen, self.head_dim) for z in (xq, xk, xv))"),
        ("heads not turned back", "future", "layers.0.attention", "output.transpose(1, 2).contiguous().view(bsz, seqlen, -1)", "output.contiguous().view(bsz, seqlen, -1)"),
        ("one block", "shared", "layers", "        for layer_id in range(n_layers):\n            self.layers.append(TransformerBlock(layer_id, dim))", "        block = TransformerBlock(0, dim)\n        for layer_id in range(n_layers):\n            self.layers.append(block)"),
        ("tie cloned", "ties", "tok_embeddings output", "self.tok_embeddings.weight = self.output.weight", "self.tok_embeddings.weight.data.copy_(self.output.weight.data)"),
        ("forgotten layer", "gradients", "layers", "for layer in self.layers:", "for layer in self.layers[:2]:"),
    ],
    "minit5": [
        ("decoder sees all", "future", "decoder.block.0.self_attention", "torch.full((t, t), -1e9).triu(1)[None, None]", "torch.zeros(1, 1, t, t)"),
        ("mask one too far", "future", "decoder.block.0.self_attention", ".triu(1)[None, None]", ".triu(2)[None, None]"),
        ("labels not moved", "future", "", "decoder_input_ids = self._shift_right(labels)", "decoder_input_ids = labels"),
        ("source's padding seen", "padding", "encoder.block.0.self_attention", "self.encoder(input_ids, source)", "self.encoder(input_ids, None)"),
        ("source's padding seen by the decoder", "padding", "decoder.block.0.cross_attention", "self.decoder(decoder_input_ids, causal, memory, source)", "self.decoder(decoder_input_ids, causal, memory, None)"),
        ("no distances", "order", "", "[T5Block(decoder, i == 0) for i in range(2)]", "[T5Block(decoder, False) for i in range(2)]"),
        ("distances all in one bucket", "order", "", "torch.arange(s)[None, :] - torch.arange(t)[:, None]", "torch.zeros(t, s, dtype=torch.long)"),
        ("no residual self", "residual", "encoder.block.0 decoder.block.0", "        x = x + self.dropout(y)\n        if self", "        x = self.dropout(y)\n        if self"),
        ("no residual cross", "residual", "decoder.block.0", "            x = x + self.dropout(y)\n", "            x = self.dropout(y)\n"),
        ("no residual mlp", "residual", "encoder.block.0 decoder.block.0", "return x + self.dropout(self.wo(F.relu(self.wi(self.norm3(x))))), bias", "return self.dropout(self.wo(F.relu(self.wi(self.norm3(x))))), bias"),
        ("memory not read", "gradients", "encoder", "kv=memory, mask=memory_mask", "kv=x, mask=None"),
        ("softmax over queries", "axis", "encoder decoder", "dim=-1)\n        return self.o", "dim=-2)\n        return self.o"),
        ("one block", "shared", "encoder decoder", "[T5Block(decoder, i == 0) for i in range(2)]", "[T5Block(decoder, True)] * 2"),
        ("memory detached", "gradients", "encoder", "causal, memory, source)", "causal, memory.detach(), source)"),
        ("heads not turned back", "future", "decoder.block.0.self_attention", "(weights @ v).transpose(1, 2).contiguous().view(b, t, D)", "(weights @ v).contiguous().view(b, t, D)"),
        ("mean of rows", "batch", "", "memory = self.encoder(input_ids, source)", "memory = self.encoder(input_ids, source)\n        memory = memory - memory.mean(0)"),
    ],
    "charstudent": [
        ("no mask", "future", "layers.0", "out = layer(out, src_mask=mask)", "out = layer(out)"),
        ("mask turned over", "future", "layers.0", ").transpose(0, 1)", ")"),
        ("batch first by mistake", "batch order", "", "dropout=0.2)", "dropout=0.2, batch_first=True)", "self.make_mask(seq.size(0))", "self.make_mask(seq.size(1))"),
        ("positions along the batch", "order", "", "torch.arange(seq.size(0)).unsqueeze(1)", "torch.arange(seq.size(1)).unsqueeze(0)"),
        ("no positions", "order gradients", "", "self.encoder(seq) + self.position(pos)", "self.encoder(seq)"),
        ("same layer", "shared", "layers", "        for _ in range(n_layers):\n            self.layers.append(nn.TransformerEncoderLayer(hidden, heads, dim_feedforward=64, dropout=0.2))", "        self.layers.extend([nn.TransformerEncoderLayer(hidden, heads, dim_feedforward=64, dropout=0.2)] * n_layers)"),
        ("layers in a list", "gradients", "", "self.layers = nn.ModuleList()", "self.layers = []"),
        ("only the last layer counts", "gradients residual", "layers", "out = layer(out, src_mask=mask)", "res = layer(out, src_mask=mask)", "out = self.decoder(out)", "out = self.decoder(res)"),
        ("all detached", "gradients", "layers.0 layers encoder layers.1", "out = layer(out, src_mask=mask)", "out = layer(out.detach(), src_mask=mask)"),
        ("mean over time", "future", "", "out = self.decoder(out)\n", "out = self.decoder(out - out.mean(0))\n"),
    ],
    "patchts": [
        ("no mask", "kind", "", "attn_mask=mask, need_weights", "need_weights"),
        ("diagonal 2", "future", "layers.0.attention", "diagonal=1)", "diagonal=2)"),
        ("diagonal 0", "blind numbers", "layers.0.attention", "diagonal=1)", "diagonal=0)"),
        ("batch_first forgotten", "batch order", "", ", batch_first=True)", ")", "t = x.size(1)", "t = x.size(0)"),
        ("no residual attn", "residual", "layers.0", "x = x + self.drop(self.attention(self.norm_a(x)))", "x = self.drop(self.attention(self.norm_a(x)))"),
        ("no residual mlp", "residual", "layers.0", "return x + self.drop(self.fc2(F.gelu(self.fc1(self.norm_f(x)))))", "return self.drop(self.fc2(F.gelu(self.fc1(self.norm_f(x)))))"),
        ("no positions", "order gradients", "", "        h = h + self.position(torch.arange(series.size(1), device=series.device))\n", ""),
        ("positions by rows", "order", "", "self.position(torch.arange(series.size(1), device=series.device))", "self.position(torch.arange(series.size(0), device=series.device)).unsqueeze(1)"),
        ("normalised over the series", "future", "", "h = self.project(series)", "h = self.project((series - series.mean(1, keepdim=True)) / series.std(1, keepdim=True))"),
        ("normalised over rows", "batch", "", "h = self.project(series)", "h = self.project((series - series.mean(0, keepdim=True)) / series.std(0, keepdim=True))"),
        ("scale not read", "gradients", "log_scale", "self.log_scale(h).exp()", "self.mean(h).exp()"),
        ("root of the scale", "numbers", "", "self.log_scale(h).exp()", "self.log_scale(h).log()"),
        ("one layer", "shared", "layers", "nn.ModuleList(Layer(d, h) for _ in range(layers))", "nn.ModuleList([Layer(d, h)] * layers)"),
    ],
    "captioner": [
        ("no mask", "future", "decoder.decoder", "tgt_mask=causal, tgt_key", "tgt_key"),
        ("captions not cut", "future", "", "self.decoder(captions[:, :-1], memory)", "self.decoder(captions[:, 1:], memory)"),
        ("no positions in words", "order gradients", "decoder", "self.embed(captions) + self.pos(torch.arange(t))", "self.embed(captions)"),
        ("picture not read", "tokens", "decoder", "self.decoder(x, memory, tgt_mask", "self.decoder(x, memory * 0, tgt_mask"),
        ("picture detached", "gradients", "encoder", "memory = self.encoder(images)", "memory = self.encoder(images).detach()"),
        ("places of the picture forgotten", "gradients order", "encoder", "return feats + self.row", "return feats"),
        ("channels for places", "heads batch future order positions", "encoder", "feats.flatten(2).permute(0, 2, 1)", "feats.flatten(2).reshape(feats.shape[0], 36, -1)"),
        ("pictures mixed", "batch", "encoder", "feats = self.cnn(images)", "feats = self.cnn(images)\n        feats = feats - feats.mean(0, keepdim=True)"),
        ("words by rows", "order", "decoder", "self.pos(torch.arange(t))", "self.pos(torch.arange(captions.shape[0])).unsqueeze(1)"),
        ("decoder not batch first", "batch", "decoder.decoder", "batch_first=True, norm_first", "norm_first", "nn.Transformer.generate_square_subsequent_mask(t)", "nn.Transformer.generate_square_subsequent_mask(captions.shape[0])", ", tgt_key_padding_mask=captions == 0", "", "memory = self.encoder(images)", "memory = self.encoder(images)[:, :10]"),
    ],
    "gemmalike": [
        ("no mask", "future", "layers.0.self_attn", "keep = pos[:, None] >= pos[None, :]", "keep = pos[:, None] >= pos[None, :] - 99"),
        ("mask one too far", "future", "layers.0.self_attn", "pos[:, None] >= pos[None, :]", "pos[:, None] + 1 >= pos[None, :]"),
        ("mask turned over", "future", "layers.0.self_attn", "keep = pos[:, None] >= pos[None, :]", "keep = pos[:, None] <= pos[None, :]"),
        ("own token hidden", "blind numbers", "layers.0.self_attn", "pos[:, None] >= pos[None, :]", "pos[:, None] > pos[None, :]"),
        ("keys not turned", "rotary", "layers.0.self_attn", "q, k = self.rope(q, pos), self.rope(k, pos)", "q = self.rope(q, pos)"),
        ("half turned", "rotary", "layers.0.self_attn", "angle = positions[:, None].float() * self.inv_freq[None, :]", "angle = positions[:, None].float() * self.inv_freq[None, :] * (torch.arange(4) < 2)"),
        ("other pairs", "rotary", "layers.0.self_attn", "x1, x2 = x[..., ::2], x[..., 1::2]\n        return torch.cat([x1 * cos - x2 * sin, x1 * sin + x2 * cos], dim=-1)", "cos, sin = (torch.cat([z, z], -1) for z in (cos, sin))\n        r = torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)\n        return x * cos + r * sin"),
        ("no positions", "order", "", "        q, k = self.rope(q, pos), self.rope(k, pos)\n", ""),
        ("positions in the wrong order", "rotary", "layers.0.self_attn", "q, k = self.rope(q, pos), self.rope(k, pos)", "q, k = self.rope(q, pos), self.rope(k, pos.flip(0))"),
        ("no residual attn", "residual", "layers.0", "        x = residual + x\n        residual = x\n", "        residual = x\n"),
        ("residual of the norm's output forgotten", "residual", "layers.0", "        return residual + x\n", "        return x\n"),
        ("old residual", "residual", "layers.0", "        x = residual + x\n        residual = x\n", "        first, x = residual, residual + x\n        residual = first\n"),
        ("softmax over queries", "axis", "layers.0.self_attn", "torch.softmax(scores, -1,", "torch.softmax(scores, -2,"),
        ("heads not turned back", "future", "layers.0.self_attn", "(probs @ v).transpose(1, 2).reshape(B, T, C)", "(probs @ v).reshape(B, T, C)"),
        ("heads by view", "future", "layers.0.self_attn", "self.q_proj(x).view(B, T, self.heads, self.hd).transpose(1, 2)", "self.q_proj(x).view(B, self.heads, T, self.hd)"),
        ("norm over time", "future", "layers.0.pre_attn", "(x.shape[-1],)", "x.shape[-2:]"),
        ("gate not used", "gradients", "layers.0.mlp", "F.gelu(self.gate_proj(x), approximate=\"tanh\") * self.up_proj(x)", "F.gelu(self.up_proj(x), approximate=\"tanh\")"),
        ("one layer", "shared", "layers", "nn.Sequential(*(DecoderLayer(dim, heads, 6 if i % 2 else None) for i in range(depth)))", "nn.Sequential(*([DecoderLayer(dim, heads, None)] * depth))"),
        ("post norm forgotten", "gradients", "layers.0.post_attn layers.0", "self.post_attn(self.self_attn(self.pre_attn(x)))", "self.self_attn(self.pre_attn(x))"),
        ("frozen in the middle", "gradients", "layers.1", '"model": LM()', '"model": frozen()', "def build():", "def frozen():\n    model = LM()\n    for p in model.layers[1].parameters():\n        p.requires_grad_(False)\n    return model\n\n\ndef build():"),
        ("batch in the softmax", "batch axis numbers", "layers.0.self_attn", "torch.softmax(scores, -1,", "torch.softmax(scores, 0,"),
        ("cap of nothing", "numbers", "", "30 * torch.tanh(F.linear(h, self.embed.weight) / 30)", "torch.log(F.linear(h, self.embed.weight))"),
    ],
    "regressor": [
        ("attends over rows", "batch", "blocks.0.attn", ", batch_first=True)", ")"),
        ("no residual attn", "residual", "blocks.0", "x = x + self.attn(y, y, y, need_weights=False)[0]", "x = self.attn(y, y, y, need_weights=False)[0]"),
        ("no residual ffn", "residual", "blocks.0", "return x + self.ffn(self.ln2(x))", "return self.ffn(self.ln2(x))"),
        ("numbers left out", "gradients tokens", "", "x_num[:, :, None] * self.weight + self.bias", "0 * x_num[:, :, None] * self.weight + self.bias"),
        ("categories left out", "gradients", "tokenizer", "        tokens += [emb(x_cat[:, i]).unsqueeze(1) for i, emb in enumerate(self.cat)]\n", ""),
        ("one category read", "gradients", "tokenizer", "for i, emb in enumerate(self.cat)]", "for i, emb in enumerate(self.cat[:1])]"),
        ("normalised in the batch", "batch", "", "x = self.tokenizer(x_num, x_cat)", "x = self.tokenizer((x_num - x_num.mean(0)) / x_num.std(0), x_cat)"),
        ("one block", "shared", "blocks", "nn.ModuleList(FTBlock(d, h) for _ in range(depth))", "nn.ModuleList([FTBlock(d, h)] * depth)"),
        ("head detached", "gradients", "", "self.head(x[:, 0])", "self.head(x[:, 0].detach())"),
        ("dropout always", "random", "", "return x + self.ffn(self.ln2(x))", "return nn.functional.dropout(x, 0.1) + self.ffn(self.ln2(x))"),
        ("logarithm of what is negative", "numbers", "", "x = self.tokenizer(x_num, x_cat)", "x = self.tokenizer(x_num.log(), x_cat)"),
    ],
    "summarizer": [
        ("target sees all", "future", "transformer.decoder", "torch.triu(torch.ones(t, t), diagonal=1).bool()", "torch.zeros(t, t).bool()"),
        ("mask one too far", "future", "transformer.decoder", "diagonal=1)", "diagonal=2)"),
        ("mask turned over", "future blind", "transformer.decoder", "torch.triu(torch.ones(t, t), diagonal=1)", "torch.tril(torch.ones(t, t), diagonal=-1)"),
        ("source's padding not given", "padding", "transformer.encoder", "None, src_padding_mask, tgt_padding_mask", "None, None, tgt_padding_mask"),
        ("memory's padding not given", "padding", "transformer.decoder", "tgt_padding_mask, memory_key_padding_mask\n        )", "tgt_padding_mask, None\n        )"),
        ("batch first by mistake", "batch order", "", "layers, layers, 64, dropout=0.1)", "layers, layers, 64, dropout=0.1, batch_first=True)", "src_emb, tgt_emb, src_mask, tgt_mask, None, src_padding_mask, tgt_padding_mask, memory_key_padding_mask", "src_emb[:10], tgt_emb"),
        ("positions along the batch", "order", "", "table.unsqueeze(-2)", "table.unsqueeze(0)", "self.pos_embedding[: token_embedding.size(0), :]", "self.pos_embedding[:, : token_embedding.size(1)]"),
        ("source without positions", "order", "", "src_emb = self.positional_encoding(self.src_tok_emb(src))", "src_emb = self.src_tok_emb(src)"),
        ("target without positions", "order", "", "tgt_emb = self.positional_encoding(self.tgt_tok_emb(trg))", "tgt_emb = self.tgt_tok_emb(trg)"),
        ("source for target", "tokens", "", "self.transformer(\n            src_emb, tgt_emb", "self.transformer(\n            src_emb * 0, tgt_emb"),
        ("encoder frozen by no_grad", "gradients", "src_tok_emb", "src_emb = self.positional_encoding(self.src_tok_emb(src))", "src_emb = self.positional_encoding(self.src_tok_emb(src)).detach()"),
        ("generator over rows", "batch", "", "return self.generator(outs)", "return self.generator(outs).softmax(1)"),
    ],
    "swinish": [
        ("windows mix rows", "batch", "blocks.0", "x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, w * w, c)", "x.permute(1, 3, 2, 0, 4, 5).contiguous().view(-1, w * w, c)"),
        ("no residual attn", "residual", "blocks.0", "x = shortcut + x\n", "x = x + 0\n"),
        ("no residual mlp", "residual", "blocks.0", "return x + self.mlp(self.norm2(x))", "return self.mlp(self.norm2(x))"),
        ("old residual", "residual", "blocks.0", "return x + self.mlp(self.norm2(x))", "return shortcut + self.mlp(self.norm2(x))"),
        ("softmax over queries", "axis", "blocks.0.attn", "attn.softmax(dim=-1)", "attn.softmax(dim=-2)"),
        ("softmax over heads", "axis", "blocks.0.attn", "attn.softmax(dim=-1)", "attn.softmax(dim=1)"),
        ("softmax over windows", "batch axis", "blocks.0.attn", "attn.softmax(dim=-1)", "attn.softmax(dim=0)"),
        ("places not added", "gradients", "blocks.0.attn blocks", "        attn = attn + self.table[self.index.view(-1)].view(t, t, -1).permute(2, 0, 1).unsqueeze(0)\n", ""),
        ("one block", "shared", "blocks", "nn.ModuleList([SwinBlock(dim, i % 2 == 1) for i in range(4)])", "nn.ModuleList([SwinBlock(dim, False)] * 4)"),
        ("mean over rows", "batch", "", "self.head(self.norm(x).mean((1, 2)))", "self.head(self.norm(x - x.mean(0)).mean((1, 2)))"),
        ("pictures cut", "gradients", "patch_embed", "self.patch_embed(x).permute(0, 2, 3, 1)", "self.patch_embed(x).permute(0, 2, 3, 1).detach()"),
        ("last block skipped", "gradients", "blocks.3", "for block in self.blocks:", "for block in list(self.blocks)[:-1]:"),
    ],
    "recommender": [
        ("no mask", "future", "attention_layers.0", "~torch.tril(torch.ones((t, t), dtype=torch.bool)) | (seqs == 0)[:, None, :]", "torch.zeros((t, t), dtype=torch.bool) | (seqs == 0)[:, None, :]"),
        ("mask turned over", "future blind", "attention_layers.0", "~torch.tril(", "torch.tril("),
        ("padding seen", "padding", "attention_layers.0", " | (seqs == 0)[:, None, :]", " | (seqs < 0)[:, None, :]"),
        ("batch first forgotten", "batch order", "", "nn.MultiheadAttention(hidden, heads, p, batch_first=True)", "nn.MultiheadAttention(hidden, heads, p)", "y, _ = attend(q, q, q, attn_mask=mask)", "y, _ = attend(q, q, q)"),
        ("no positions", "order gradients", "", "x + self.pos_emb(poss)", "x"),
        ("no residual attn", "residual", "attention_layers.0", "            x = x + y\n", "            x = y\n"),
        ("no residual ff", "residual", "forward_layers.0", "return y.transpose(-1, -2) + inputs", "return y.transpose(-1, -2)"),
        ("view for transpose", "future batch", "forward_layers.0", "inputs.transpose(-1, -2)))))", "inputs.reshape(inputs.shape[0], inputs.shape[2], -1)))))"),
        ("negatives left out", "tokens", "", " + F.logsigmoid(-neg[real])", ""),
        ("one layer", "shared", "attention_layers", "            self.attention_layers.append(nn.MultiheadAttention(hidden, heads, p, batch_first=True))\n", "            self.attention_layers.append(self.attention_layers[0] if len(self.attention_layers) else nn.MultiheadAttention(hidden, heads, p, batch_first=True))\n"),
        ("features detached", "gradients", "", "feats = self.log2feats(log_seqs)", "feats = self.log2feats(log_seqs).detach()"),
        ("norm forgotten", "gradients", "last_layernorm", "return self.last_layernorm(x)", "return x"),
        ("mean over rows", "batch", "", "return self.last_layernorm(x)", "return self.last_layernorm(x - x.mean(0))"),
    ],
    "tagger_pairs": [
        ("padding seen", "padding", "layers.0.attn", "masked_fill(hide[:, None, None], float(\"-inf\"))", "masked_fill(hide[:, None, None], 0.0)"),
        ("padding pooled", "padding", "pool", "e.masked_fill(hide, -1e4).softmax(dim=-1)", "e.softmax(dim=-1)"),
        ("pooled over rows", "batch axis", "pool", "e.masked_fill(hide, -1e4).softmax(dim=-1)", "e.masked_fill(hide, -1e4).softmax(dim=0)"),
        ("mask inverted", "padding blind", "layers.0.attn", "masked_fill(hide[:, None, None]", "masked_fill(~hide[:, None, None]"),
        ("no places", "order gradients", "", " + self.place[: word_ids.shape[1]]", ""),
        ("places by rows", "order", "", "self.place[: word_ids.shape[1]]", "self.place[: word_ids.shape[0], None]"),
        ("letters left out", "gradients", "letter", "torch.cat([self.word(word_ids), spelled], dim=-1)", "torch.cat([self.word(word_ids), spelled.detach()], dim=-1)"),
        ("no residual attn", "residual", "layers.0", "self.n1(x + self.drop(self.attn(x, hide)))", "self.n1(self.drop(self.attn(x, hide)))"),
        ("no residual ff", "residual", "layers.0", "self.n2(x + self.drop(self.l2(F.silu(self.l1(x)))))", "self.n2(self.drop(self.l2(F.silu(self.l1(x)))))"),
        ("one layer", "shared", "layers", "[EncoderLayer(d, 4) for _ in range(2)]", "[EncoderLayer(d, 4)] * 2"),
        ("one head for both", "gradients", "intent_head", "self.intent_head(self.pool(x, hide))", "self.tag_head(self.pool(x, hide))"),
        ("words mixed with rows", "batch", "", "x = self.mix(torch.cat([self.word(word_ids), spelled], dim=-1))", "x = self.mix(torch.cat([self.word(word_ids), spelled.flip(0)], dim=-1))"),
        ("dropout always", "random", "", "return self.n2(x + self.drop(self.l2(F.silu(self.l1(x)))))", "return self.n2(x + F.dropout(self.l2(F.silu(self.l1(x))), 0.1))"),
    ],
    "mytorchgpt": [
        ("mask one too far", "future", "block1.attention", "diagonal=1)", "diagonal=2)"),
        ("mask left out", "future", "block1.attention", "attn_mask=self.mask[:n, :n]", "attn_mask=None"),
        ("mask inverted", "future blind", "block1.attention", "attn_mask=self.mask[:n, :n]", "attn_mask=~self.mask[:n, :n]"),
        ("not moved", "future", "", "inputs, targets = text[:, :-1], text[:, 1:]", "inputs, targets = text[:, 1:], text[:, 1:]"),
        ("batch first forgotten", "batch order", "", "heads, batch_first=True)", "heads)", "attn_mask=self.mask[:n, :n]", "attn_mask=None"),
        ("places by rows", "order", "embedding", "torch.arange(0, x.shape[1]).repeat(x.shape[0], 1)", "torch.arange(0, x.shape[0]).unsqueeze(1).expand(-1, x.shape[1])"),
        ("no places", "order gradients", "embedding", "self.token(x) + self.pos(places)", "self.token(x)"),
        ("no residual attn", "residual", "block1", "self.norm1(inputs + self.drop1(attended))", "self.norm1(self.drop1(attended))"),
        ("no residual ff", "residual", "block1", "self.norm2(out1 + self.drop2(self.feedforward(out1)))", "self.norm2(self.drop2(self.feedforward(out1)))"),
        ("residual of the inputs", "residual", "block1", "self.norm2(out1 + self.drop2(self.feedforward(out1)))", "self.norm2(inputs + self.drop2(self.feedforward(out1)))"),
        ("one block", "shared", "block1 block2", "self.block1, self.block2 = DecoderOnlyBlock(width, 4, longest), DecoderOnlyBlock(width, 4, longest)", "self.block1 = self.block2 = DecoderOnlyBlock(width, 4, longest)"),
        ("second block not called", "gradients", "block2", "        h = self.block2(h)\n", ""),
        ("block 1 for block 2", "gradients shared", "block2 block1", "h = self.block2(h)", "h = self.block1(h)"),
        ("softmax over words of rows", "batch", "", "nn.LogSoftmax(dim=-1)", "nn.LogSoftmax(dim=0)"),
        ("softmax over time", "future", "", "nn.LogSoftmax(dim=-1)", "nn.LogSoftmax(dim=1)"),
        ("training flag inverted", "modes", "", "h = self.block2(h)", "h = self.block2(h) if self.training else h"),
    ],
}  # fmt: skip
EDITS |= edits_of("audit", "held_out_faults*.py")


def text_of(name: str, fault: str = "") -> str:
    """The text of a model with one of its faults written in."""
    text = (PLACE / f"{name}.py").read_text(encoding="utf-8")
    if fault:
        edits = next(edit[3:] for edit in EDITS[name] if edit[0] == fault)
        for old, new in zip(edits[::2], edits[1::2], strict=True):
            assert old in text, (name, fault, old)
            text = text.replace(old, new, 1)
    return text


def audited(name: str, fault: str = "") -> tuple[list[tuple[str, str]], str, str]:
    """(probe, module) of each finding, the kind, the report; a refusal counts as one of the probe "random"."""
    module = types.ModuleType("heldout")
    sys.modules["heldout"] = module  # where dataclasses look
    exec(compile(text_of(name, fault), f"{name}.py", "exec"), module.__dict__)
    badak.manual_seed(0)
    given = module.build()
    try:
        report = badak.audit(given.pop("model"), given.pop("batch"), **given)
    except BadakError as error:
        where = re.search(r"in eval mode differ, from (\S+)", str(error))
        return [("random", where.group(1) if where and where.group(1) != "the" else "")], "refused", str(error)
    asks = [("kind", "")] if report.code and not report.findings else []  # nothing shows what is meant: the report says so
    return [(f.probe, f.module) for f in report.findings] + asks, report.kind, str(report)


def judged(name: str, fault: str) -> tuple[bool, bool, list, str]:
    """(found, in the right module, what else was found, the report)."""
    _, probes, modules, *_ = next(edit for edit in EDITS[name] if edit[0] == fault)
    found, _, text = audited(name, fault)
    places = [module for probe, module in found if probe in probes.split()]
    wanted = modules.split() or [""]
    right = any(inside(place, each) for place in places for each in wanted)
    return bool(places), right, [each for each in found if each[0] not in probes.split()], text


def inside(place: str, wanted: str) -> bool:
    """Whether a place is one, or inside it, or one level above; the model itself is wherever its own code is at fault."""
    if not wanted:
        return True
    return place == wanted or place.startswith(f"{wanted}.") or (place != "" and place == wanted.rpartition(".")[0])


def main(asked: list[str]) -> int:
    verbose, asked = "-v" in asked, [each for each in asked if each != "-v"]
    planted = hit = right = others = alarms = 0
    for name in asked or NAMES:
        found, kind, text = audited(name)
        alarms += len(found)
        if found:
            print(f"{name}: as it is ({kind}): {found}\n{text}")
        for fault, *_ in EDITS[name]:
            one, place, more, text = judged(name, fault)
            planted, hit, right, others = planted + 1, hit + one, right + place, others + bool(more)
            if not place or more:
                print(f"{name}: {fault}: {'' if place else 'wrong place' if one else 'MISSED'} {more or ''}", flush=True)
                if verbose:
                    print(text)
    print(f"{planted} planted, {hit} found ({hit / planted:.1%}), {right} in the right module ({right / planted:.1%}), {others} with another finding, {alarms} false findings")  # fmt: skip
    return int(hit < 0.97 * planted or right < 0.93 * planted or alarms > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
