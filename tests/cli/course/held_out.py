"""Programs that were not used to write the checks: right ones of other forms, and typical wrong ones with their reason."""

RIGHT = {
    "softmax": [
        "def softmax(x, dim):\n    z = x - x.max(dim, keepdim=True)[0]\n    return z.exp() / z.exp().sum(dim, True)",
        "def softmax(x, dim):\n    m = x.amax(dim).unsqueeze(dim)\n    e = badak.exp(x - m)\n    return e * (1 / e.sum(dim).unsqueeze(dim))",
        "def softmax(x, dim):\n    e = (x - x.detach().amax(dim, keepdim=True)).exp()\n    return e.div(e.sum(dim, keepdim=True))",
        "def softmax(x, dim):\n    z = x.transpose(dim, -1)\n    e = (z - z.amax(-1, True)).exp()\n    return (e / e.sum(-1, True)).transpose(dim, -1)",
        "def softmax(x, dim):\n    e = 2.0 ** ((x - x.amax(dim, keepdim=True)) / math.log(2))\n    return e / e.sum(dim, keepdim=True)",
    ],
    "matmul_backward": [
        "def matmul_backward(dy, a, b):\n    da = badak.einsum('...nm,...km->...nk', dy, b)\n    db = badak.einsum('...nk,...nm->...km', a, dy)\n    return da.sum_to_size(a.shape), db.sum_to_size(b.shape)",
        "def matmul_backward(dy, a, b):\n    def fit(d, x):\n        d = d.reshape(-1, *d.shape[-2:]) if x.ndim == 2 else d\n        return d.sum(0) if x.ndim == 2 else d.sum([i for i in range(d.ndim - 2) if i < d.ndim - x.ndim or x.shape[i - d.ndim + x.ndim] == 1], keepdim=True).reshape(x.shape) if d.shape != x.shape else d\n    return fit(dy @ b.mT, a), fit(a.mT @ dy, b)",
        "def matmul_backward(dy, a, b):\n    dy, a, b = dy.numpy(), a.numpy(), b.numpy()\n    def fit(d, x):\n        d = d.sum(tuple(range(d.ndim - x.ndim)))\n        axes = tuple(i for i in range(x.ndim - 2) if x.shape[i] == 1)\n        return badak.from_numpy(d.sum(axes, keepdims=True) if axes else d)\n    return fit(dy @ b.swapaxes(-1, -2), a), fit(a.swapaxes(-1, -2) @ dy, b)",
    ],
    "attention": [
        "def attention(q, k, v, keep=None):\n    s = badak.einsum('...td,...sd->...ts', q, k) * q.shape[-1] ** -0.5\n    if keep is not None:\n        s = badak.where(keep, s, -math.inf)\n    return badak.einsum('...ts,...se->...te', s.softmax(-1), v)",
        "def attention(q, k, v, keep=None):\n    s = (q / math.sqrt(q.size(-1))) @ k.mT\n    if keep is not None:\n        s = s.masked_fill(keep.logical_not(), float('-inf'))\n    e = (s - s.amax(-1, keepdim=True)).exp()\n    return e @ v / e.sum(-1, keepdim=True)",
        "def attention(q, k, v, keep=None):\n    s = q @ k.mT / math.sqrt(k.shape[-1])\n    if keep is not None:\n        s = s + badak.zeros(keep.shape).masked_fill(~keep, -1e30)\n    return s.softmax(-1) @ v",
        "def attention(q, k, v, keep=None):\n    rows = []\n    for t in range(q.shape[-2]):\n        s = (q[..., t : t + 1, :] * k).sum(-1) / q.shape[-1] ** 0.5\n        if keep is not None:\n            row = keep[..., min(t, keep.shape[-2] - 1), :]\n            s = s.masked_fill(~row, -math.inf)\n        rows.append((s.softmax(-1)[..., None] * v).sum(-2))\n    return badak.stack(rows, -2)",
    ],
    "attention_backward": [
        "def attention_backward(dout, q, k, v):\n    q, k, v = (x.clone().requires_grad_() for x in (q, k, v))\n    y = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v\n    return badak.autograd.grad(y, (q, k, v), dout)",
        "def attention_backward(dout, q, k, v):\n    c = q.shape[-1] ** -0.5\n    p = badak.softmax(q @ k.mT * c, -1)\n    out = p @ v\n    ds = p * (dout @ v.mT - (dout * out).sum(-1, keepdim=True)) * c\n    return [ds @ k, ds.mT @ q, p.mT @ dout]",
    ],
    "layer_norm_backward": [
        "def layer_norm_backward(dy, x, w, b, eps=1e-5):\n    C = x.shape[-1]\n    X, D = x.numpy().reshape(-1, C), dy.numpy().reshape(-1, C)\n    s = 1 / np.sqrt(X.var(-1, keepdims=True) + eps)\n    h = (X - X.mean(-1, keepdims=True)) * s\n    g = D * w.numpy()\n    dx = s / C * (C * g - g.sum(-1, keepdims=True) - h * (g * h).sum(-1, keepdims=True))\n    return badak.from_numpy(dx.reshape(x.shape)), badak.from_numpy((D * h).sum(0)), badak.from_numpy(D.sum(0))",
        "def layer_norm_backward(dy, x, w, b, eps=1e-5):\n    x, w, b = (t.clone().requires_grad_() for t in (x, w, b))\n    m = x.mean(-1, keepdim=True)\n    y = (x - m) / ((x - m) ** 2).mean(-1, keepdim=True).add(eps).sqrt() * w + b\n    return badak.autograd.grad(y, (x, w, b), dy)",
    ],
    "cross_entropy_backward": [
        "def cross_entropy_backward(dloss, logits, target):\n    d = F.softmax(logits, -1)\n    n = (target >= 0).sum()\n    for i, t in enumerate(target.tolist()):\n        if t == -100:\n            d[i] = 0\n        else:\n            d[i, t] -= 1\n    return d * dloss / n",
        "def cross_entropy_backward(dloss, logits, target):\n    x = logits.clone().requires_grad_()\n    return badak.autograd.grad(F.cross_entropy(x, target), x, dloss)[0]",
    ],
    "embedding_backward": [
        "def embedding_backward(dy, ids, rows):\n    return F.one_hot(ids.reshape(-1), rows).float().T @ dy.reshape(-1, dy.shape[-1])",
        "def embedding_backward(dy, ids, rows):\n    return badak.zeros(rows, dy.shape[-1]).index_add(0, ids.reshape(-1), dy.reshape(-1, dy.shape[-1]))",
        "def embedding_backward(dy, ids, rows):\n    dw = np.zeros((rows, dy.shape[-1]), np.float32)\n    np.add.at(dw, ids.numpy().reshape(-1), dy.numpy().reshape(-1, dy.shape[-1]))\n    return badak.from_numpy(dw)",
    ],
    "backward_walk": [
        "def backward(root):\n    uses, stack, seen = {}, [root], {id(root)}\n    kept = [root]\n    while stack:\n        for p, s in stack.pop().edges:\n            uses[id(p)] = uses.get(id(p), 0) + 1\n            if id(p) not in seen:\n                seen.add(id(p)); stack.append(p); kept.append(p)\n    root.grad = 1.0\n    ready = [root]\n    while ready:\n        n = ready.pop()\n        for p, s in n.edges:\n            p.grad += s * n.grad\n            uses[id(p)] -= 1\n            if not uses[id(p)]:\n                ready.append(p)",
    ],
    "dropout": [
        "def dropout(x, p, training, u):\n    if training:\n        return badak.where(u < p, badak.zeros_like(x), x / (1 - p))\n    return x",
        "def dropout(x, p, training, u):\n    return x.masked_fill(u < p, 0.0) * (1 / (1 - p)) if training else x.clone()",
    ],
    "sinusoids": [
        "def sinusoids(length, channels):\n    out = np.zeros((length, channels))\n    for t in range(length):\n        for i in range(channels // 2):\n            out[t, 2 * i] = math.sin(t / 10000 ** (2 * i / channels))\n            out[t, 2 * i + 1] = math.cos(t / 10000 ** (2 * i / channels))\n    return out",
        "def sinusoids(length, channels):\n    a = badak.arange(length).outer(badak.exp(badak.arange(0, channels, 2) * (-math.log(10000) / channels))) if False else badak.arange(length)[:, None] * badak.exp(badak.arange(0, channels, 2) * (-math.log(10000) / channels))\n    return badak.stack([a.sin(), a.cos()], -1).reshape(length, channels)",
    ],
    "rotary": [
        "def rotary(x, base=10000.0):\n    T, D = x.shape[-2], x.shape[-1]\n    f = badak.exp(badak.arange(0, D, 2) * (-math.log(base) / D))\n    a = badak.cat([badak.arange(T)[:, None] * f] * 2, -1)\n    half = badak.cat([-x[..., D // 2:], x[..., :D // 2]], -1)\n    return x * a.cos() + half * a.sin()",
    ],
    "masks": [
        "def visible(ids, pad):\n    T = ids.shape[1]\n    return badak.ones(T, T, dtype=badak.bool).tril()[None, None] & (ids != pad)[:, None, None]",
        "def visible(ids, pad):\n    B, T = ids.shape\n    return badak.tensor([[[[j <= i and ids[b, j].item() != pad for j in range(T)] for i in range(T)]] for b in range(B)])",
        "def visible(ids, pad):\n    T = ids.shape[1]\n    hide = badak.ones(T, T).triu(1).bool() | (ids == pad).unsqueeze(1).unsqueeze(1)\n    return ~hide",
    ],
    "adamw": [
        "def adamw(w, g, m, v, step, lr, beta1, beta2, eps, decay):\n    w.mul_(1 - lr * decay)\n    m.mul_(beta1).add_(g, alpha=1 - beta1)\n    v.mul_(beta2).addcmul_(g, g, value=1 - beta2)\n    w.addcdiv_(m / (1 - beta1 ** step), (v / (1 - beta2 ** step)).sqrt() + eps, value=-lr)\n    return w, m, v",
        "def adamw(w, g, m, v, step, lr, beta1, beta2, eps, decay):\n    m = m + (1 - beta1) * (g - m)\n    v = v + (1 - beta2) * (g * g - v)\n    d = (v / (1 - beta2 ** step)).sqrt() + eps\n    return w * (1 - lr * decay) - lr / (1 - beta1 ** step) * m / d, m, v",
    ],
    "warm_up": [
        "def rate(step, warmup, total, peak):\n    if step < warmup:\n        return step / warmup * peak\n    return peak * math.cos(math.pi / 2 * (step - warmup) / (total - warmup)) ** 2",
    ],
    "label_smoothing": [
        "def smoothed_loss(logits, target, smoothing):\n    V = logits.shape[1]\n    goal = F.one_hot(target, V) * (1 - smoothing) + smoothing / V\n    return -(goal * F.log_softmax(logits, 1)).sum(1).mean()",
        "def smoothed_loss(logits, target, smoothing):\n    z = logits.logsumexp(-1)\n    right = logits[badak.arange(len(target)), target]\n    return (z - (1 - smoothing) * right - smoothing * logits.mean(-1)).mean()",
    ],
    "lora": [
        "def lora(x, w, a, b, alpha):\n    return F.linear(x, w) + F.linear(F.linear(x, a), b) * (alpha / len(a))\n\n\ndef merged(w, a, b, alpha):\n    return w + badak.einsum('or,ri->oi', b, a) * alpha / len(a)",
    ],
    "int8": [
        "def quantize(w):\n    scale = w.abs().max(1)[0] / 127\n    q = badak.where(scale[:, None] > 0, w / scale[:, None], badak.zeros_like(w))\n    return q.round().clamp(-127, 127).to(badak.int8), scale\n\n\ndef linear(x, q, scale):\n    return F.linear(x, q.float()) * scale",
    ],
}
WRONG = {  # name: (program, a word of the reason that must be named)
    "softmax": [
        ("def softmax(x, dim):\n    e = badak.exp(x)\n    return e / e.sum(dim, True)", "maximum is not subtracted"),
        ("def softmax(x, dim):\n    z = x - x.amax(dim, True)\n    return z - z.exp().sum(dim, True).log()", "logarithm"),
        ("def softmax(x, dim):\n    e = (x - x.amax(-1, True)).exp()\n    return e / e.sum(-1, True)", "dim is ignored"),
        ("def softmax(x, dim):\n    e = (x - x.max()).exp()\n    return e / e.sum(dim, True)", "maximum of all"),
    ],
    "attention": [
        ("def attention(q, k, v, keep=None):\n    s = q @ k.mT\n    s = s if keep is None else s.masked_fill(~keep, -math.inf)\n    return s.softmax(-1) @ v", "not divided"),
        ("def attention(q, k, v, keep=None):\n    s = q @ k.mT / q.size(-1)\n    s = s if keep is None else s.masked_fill(~keep, -1e9)\n    return s.softmax(-1) @ v", "divided by D"),
        ("def attention(q, k, v, keep=None):\n    a = (q @ k.mT / q.size(-1) ** 0.5).softmax(-1)\n    a = a if keep is None else a * keep\n    return a @ v", "after softmax"),
        ("def attention(q, k, v, keep=None):\n    s = q @ k.mT / q.size(-1) ** 0.5\n    s = s if keep is None else s.masked_fill(keep, -math.inf)\n    return s.softmax(-1) @ v", "wrong way round"),
        ("def attention(q, k, v, keep=None):\n    s = q @ k.mT / q.size(-1) ** 0.5\n    s = s if keep is None else s * keep\n    return s.softmax(-1) @ v", "become 0"),
        ("def attention(q, k, v, keep=None):\n    s = q @ k.mT / q.size(-1) ** 0.5\n    s = s if keep is None else badak.where(keep, s, -math.inf)\n    return s.softmax(-2) @ v", "over the queries"),
    ],
    "matmul_backward": [
        ("def matmul_backward(dy, a, b):\n    return badak.einsum('...nm,...km->...nk', dy, b), a.mT @ dy", "not summed"),
        ("def matmul_backward(dy, a, b):\n    da, db = dy @ b.mT, a.mT @ dy\n    return da.mean(0) if da.ndim > a.ndim else da, db.mean(0) if db.ndim > b.ndim else db", "averaged"),
    ],
    "layer_norm_backward": [
        ("def layer_norm_backward(dy, x, w, b, eps=1e-5):\n    s = (x.var(-1, keepdim=True, correction=0) + eps).rsqrt()\n    h = (x - x.mean(-1, keepdim=True)) * s\n    n = tuple(range(x.ndim - 1))\n    return dy * w * s, (dy * h).sum(n), dy.sum(n)", "constants"),
        ("def layer_norm_backward(dy, x, w, b, eps=1e-5):\n    s = (x.var(-1, keepdim=True, correction=0) + eps).rsqrt()\n    h = (x - x.mean(-1, keepdim=True)) * s\n    g = dy * w\n    n = tuple(range(x.ndim - 1))\n    return s * (g - g.mean(-1, keepdim=True)), (dy * h).sum(n), dy.sum(n)", "term of the variance"),
    ],
    "cross_entropy_backward": [
        ("def cross_entropy_backward(dloss, logits, target):\n    d = F.softmax(logits, -1) - F.one_hot(target.clamp(min=0), logits.shape[1])\n    return dloss * d * (target != -100).unsqueeze(1) / logits.shape[0]", "all rows"),
        ("def cross_entropy_backward(dloss, logits, target):\n    d = F.softmax(logits, -1) - F.one_hot(target.clamp(min=0), logits.shape[1])\n    return dloss * d * (target != -100).unsqueeze(1)", "not divided by the number of rows"),
    ],
    "embedding_backward": [
        ("def embedding_backward(dy, ids, rows):\n    dw = badak.zeros(rows, dy.shape[-1])\n    dw[ids.reshape(-1)] = dy.reshape(-1, dy.shape[-1])\n    return dw", "overwrite"),
        ("def embedding_backward(dy, ids, rows):\n    one = F.one_hot(ids.reshape(-1), rows).float()\n    return (one.T @ dy.reshape(-1, dy.shape[-1])) / one.sum(0).clamp(min=1)[:, None]", "averaged"),
    ],
    "dropout": [
        ("def dropout(x, p, training, u):\n    return badak.where(u < p, 0.0, x) if training else x", "not divided by 1 - p"),
        ("def dropout(x, p, training, u):\n    return badak.where(u < p, 0.0, x) / (1 - p)", "in evaluation"),
    ],
    "adamw": [
        ("def adamw(w, g, m, v, step, lr, beta1, beta2, eps, decay):\n    m = m * beta1 + g * (1 - beta1)\n    v = v * beta2 + g * g * (1 - beta2)\n    return w - lr * decay * w - lr * m / (v.sqrt() + eps), m, v", "bias correction is missing"),
        ("def adamw(w, g, m, v, step, lr, beta1, beta2, eps, decay):\n    g = g + w * decay\n    m = m * beta1 + g * (1 - beta1)\n    v = v * beta2 + g * g * (1 - beta2)\n    return w - lr * (m / (1 - beta1 ** step)) / ((v / (1 - beta2 ** step)).sqrt() + eps), m, v", "added to the gradient"),
    ],
    "label_smoothing": [
        ("def smoothed_loss(logits, target, smoothing):\n    V = logits.shape[1]\n    one = F.one_hot(target, V)\n    goal = one * (1 - smoothing) + (1 - one) * smoothing / (V - 1)\n    return -(goal * F.log_softmax(logits, 1)).sum(1).mean()", "V - 1 wrong"),
    ],
}  # fmt: skip
