"""Faults of the eighteenth series: a text whose beginning is given, and cars that ask each other and the map."""

# ruff: noqa: E501  (what is sought stands in one line)
EDITS: dict[str, list[tuple]] = {
    "prefixj": [
        ("no mask", "future", "h", "w = torch.where(visible, w, torch.tensor(-1e9))", "pass"),
        ("mask one too far", "future", "", "at[:, None] >= at[None, :]", "at[:, None] + 1 >= at[None, :]"),
        ("mask turned over", "future blind", "", "at[:, None] >= at[None, :]", "at[:, None] <= at[None, :]"),
        ("beginning of the first row", "batch future", "", "prefix = at[None, :] < prefix_lengths[:, None]", "prefix = (at[None, :] < prefix_lengths[:1, None]).expand(len(ids), -1)"),
        ("beginning one too long", "future", "", "visible = causal[None] | prefix[:, None, :]", "visible = causal[None] | (at[None, :] <= prefix_lengths[:, None])[:, None, :]"),
        ("end seen for the beginning", "future", "", "at[None, :] < prefix_lengths[:, None]", "at[None, :] >= prefix_lengths[:, None]"),
        ("keys turned by halves", "rotary", "h", "k = torch.cat([apply_rotary_pos_emb(k[..., :r], sin, cos), k[..., r:]], dim=-1)", "k = torch.cat([k[..., :r] * torch.cat([cos, cos], -1)[:, None] + torch.cat([-k[..., r // 2 : r], k[..., : r // 2]], -1) * torch.cat([sin, sin], -1)[:, None], k[..., r:]], dim=-1)"),
        ("rest of the keys lost", "rotary gradients heads", "h", "k = torch.cat([apply_rotary_pos_emb(k[..., :r], sin, cos), k[..., r:]], dim=-1)", "k = torch.cat([apply_rotary_pos_emb(k[..., :r], sin, cos), k[..., :r]], dim=-1)"),
        ("angles by the heads", "rotary order", "h", "[None, :, None, :] for t in", "[None, : x.shape[2], :][:, None] * 1.0 for t in", "sin, cos = fixed_pos_embedding(self.rotary_dim, x.shape[1])", "sin, cos = fixed_pos_embedding(self.rotary_dim, self.n_head)"),
        ("width for the head", "scale", "h", "math.sqrt(self.head_dim)", "math.sqrt(self.head_dim) / math.sqrt(self.head_dim)"),
        ("stream not added", "residual", "h", "return attn_output + feed_forward + residual", "return attn_output + feed_forward"),
        ("map of the stream itself", "norm gradients", "h", "feed_forward = self.mlp(x)", "feed_forward = self.mlp(residual)"),
        ("heads joined as they lie", "heads future", "h", "y = torch.matmul(w, v).permute(0, 2, 1, 3).contiguous()\n        return self.resid_dropout(self.out_proj(y.view(*y.shape[:-2], -1)))", "y = torch.matmul(w, v).contiguous()\n        return self.resid_dropout(self.out_proj(y.view(x.shape)))"),
        ("loss not moved", "future", "", "target = ids[:, 1:].masked_fill(prefix[:, 1:], -100)", "target = ids[:, :-1].masked_fill(prefix[:, :-1], -100)"),
    ],
    "motion": [
        ("agents that are not there seen", "padding", "layers", "self.social(y, missing=agent_missing.repeat_interleave(T, dim=0))", "self.social(y)"),
        ("masks of the agents in turn", "padding batch", "layers", "agent_missing.repeat_interleave(T, dim=0)", "agent_missing.repeat(T, 1)"),
        ("lanes that are not there seen", "padding", "layers", "self.map(x.reshape(B, A * T, C), lanes, lane_missing)", "self.map(x.reshape(B, A * T, C), lanes)"),
        ("masks turned over", "padding blind numbers", "layers", "layer(x, m, ~agent_mask, ~lane_mask)", "layer(x, m, agent_mask, ~lane_mask)"),
        ("time among the agents", "heads order batch padding", "layers", "y = x.transpose(1, 2).reshape(B * T, A, C)", "y = x.reshape(B * T, A, C)"),
        ("agents not put back", "heads order batch padding", "layers", "x = y.view(B, T, A, C).transpose(1, 2)\n", "x = y.view(B, A, T, C)\n"),
        ("scenes mixed", "batch", "layers", "x = self.time(x.reshape(B * A, T, C)).view(B, A, T, C)", "x = self.time(x.transpose(0, 2).reshape(T * A, B, C)).view(T, A, B, C).transpose(0, 2)"),
        ("no time", "gradients order", "", "self.agent_in(agents) + self.time_embed", "self.agent_in(agents)"),
        ("one mode", "copies", "", "self.mode_queries = nn.Parameter(torch.randn(modes, dim))", "self.mode_queries = nn.Parameter(torch.zeros(modes, dim))"),
        ("lanes not read", "gradients tokens", "", "y = self.map(x.reshape(B, A * T, C), lanes, lane_missing)", "y = self.map(x.reshape(B, A * T, C))"),
        ("lanes detached", "gradients", "", "m = self.encode_lanes(lanes)", "m = self.encode_lanes(lanes).detach()"),
        ("maximum over the lanes", "padding positions", "", "return self.lane_in(lanes).max(dim=2).values", "return self.lane_in(lanes).max(dim=1).values[:, :1].expand(-1, lanes.shape[1], -1)"),
        ("scores over the agents", "batch padding axis", "", "view(B, A, -1).softmax(dim=-1)", "view(B, A, -1).softmax(dim=1)"),
        ("last place of all agents", "padding batch", "", "agents[:, :, -1, None, None, :2]", "agents[:, :, -1, None, None, :2].mean(0, keepdim=True)"),
        ("no residual of the map's answer", "residual", "layers", "        x = x + self.drop(y)\n        return x", "        x = self.drop(y)\n        return x"),
        ("encoder without nonlinearity", "straight", "", "x = F.relu(layer(x))", "x = layer(x)"),
    ],
}  # fmt: skip
