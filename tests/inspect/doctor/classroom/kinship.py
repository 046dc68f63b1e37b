"""Who is related to whom: entities and relations as vectors (TransE), corrupted triples, ranks of the true one. A notebook."""

# %%
import numpy as np
import torch
import torch.nn.functional as F

torch.manual_seed(12)
rng = np.random.default_rng(12)
N_ENTITIES, N_RELATIONS, DIM = 120, 6, 24

# %% the world: each entity has a hidden place, each relation is a move between places
places = rng.normal(size=(N_ENTITIES, 4))
moves = rng.normal(size=(N_RELATIONS, 4))
facts = []
for r in range(N_RELATIONS):
    for h in range(N_ENTITIES):
        d = ((places[h] + moves[r] - places) ** 2).sum(-1)
        d[h] = np.inf
        for t in np.argsort(d)[:3]:
            facts.append((h, r, t))
facts = np.array(facts)
rng.shuffle(facts)
train, valid = facts[:-240], facts[-240:]
known = {tuple(f) for f in facts}
print(len(train), "facts to learn,", len(valid), "to guess")

# %%
entity = torch.nn.Embedding(N_ENTITIES, DIM)
relation = torch.nn.Embedding(N_RELATIONS, DIM)
bound = 6 / DIM**0.5
torch.nn.init.uniform_(entity.weight, -bound, bound)
torch.nn.init.uniform_(relation.weight, -bound, bound)
with torch.no_grad():
    relation.weight.div_(relation.weight.norm(dim=1, keepdim=True))


def distance(h, r, t):
    return (entity(h) + relation(r) - entity(t)).norm(p=2, dim=-1)


def corrupt(triples):
    """Another head or another tail, in turn of a coin."""
    fake = triples.clone()
    coin = torch.rand(len(triples)) < 0.5
    other = torch.randint(N_ENTITIES, (len(triples),))
    fake[coin, 0] = other[coin]
    fake[~coin, 2] = other[~coin]
    return fake


def ranks(triples):
    found = []
    everyone = torch.arange(N_ENTITIES)
    with torch.no_grad():
        for h, r, t in triples.tolist():
            d = distance(torch.full((N_ENTITIES,), h), torch.full((N_ENTITIES,), r), everyone)
            for other in range(N_ENTITIES):
                if other != t and (h, r, other) in known:
                    d[other] = float("inf")
            found.append(int((d < d[t]).sum()) + 1)
    return np.array(found)


# %%
params = list(entity.parameters()) + list(relation.parameters())
opt = torch.optim.Adam(params, lr=0.02)
margin = 1.0
train_t, valid_t = torch.from_numpy(train), torch.from_numpy(valid)
history = []
for epoch in range(5):
    with torch.no_grad():
        entity.weight.copy_(F.normalize(entity.weight, dim=1))
    perm = torch.randperm(len(train_t))
    total = 0.0
    for i in range(0, len(perm), 128):
        true = train_t[perm[i : i + 128]]
        fake = corrupt(true)
        good = distance(true[:, 0], true[:, 1], true[:, 2])
        bad = distance(fake[:, 0], fake[:, 1], fake[:, 2])
        loss = F.relu(margin + good - bad).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(true)
    history.append(total / len(train_t))
    rank = ranks(valid_t[:60])
    print(f"epoch {epoch}: loss {history[-1]:.3f}  MRR {(1 / rank).mean():.3f}  hits@10 {(rank <= 10).mean():.2f}")
