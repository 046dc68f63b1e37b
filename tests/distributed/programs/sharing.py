"""What each rank reads of a dataset: with a DistributedSampler, with workers, and of a stream that asks where it is."""

from badak.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset, get_worker_info

from badak import distributed as dist

N = 24
dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()


class Squares(Dataset):
    """Notes what was asked of it, in this process."""

    def __init__(self):
        self.asked = []

    def __len__(self):
        return N

    def __getitem__(self, i):
        self.asked.append(i)
        return i * i


class Stream(IterableDataset):
    """Every rank and worker gives the numbers that are its own."""

    def __iter__(self):
        here = get_worker_info()
        parts, part = (size, rank) if here is None else (size * here.num_workers, rank * here.num_workers + here.id)
        return iter(range(part, N, parts))


def given(loader):
    """All numbers that come out of it."""
    return [int(x) for batch in loader for x in batch]


def shared(name, own, wanted):
    """All ranks' numbers together are the wanted ones, each once."""
    lists = [None] * size
    dist.all_gather_object(lists, own)
    right = sorted(sum(lists, [])) == wanted and all(len(one) == len(lists[0]) for one in lists)
    print(f"{rank} {name}: {'right' if right else lists}", flush=True)


squares = [i * i for i in range(N)]
for epoch in range(2):
    data = Squares()
    sampler = DistributedSampler(data, shuffle=True, seed=3)
    sampler.set_epoch(epoch)
    shared(f"sampler {epoch}", given(DataLoader(data, batch_size=3, sampler=sampler)), squares)
    shared(f"read {epoch}", data.asked, list(range(N)))
for workers in (0, 2):
    # Python 3.14 would run this file again in each worker, and it has no guard
    options = {"num_workers": workers, "multiprocessing_context": "fork" if workers else None}
    sampler = DistributedSampler(Squares(), shuffle=False)
    shared(f"workers {workers}", given(DataLoader(Squares(), 3, sampler=sampler, **options)), squares)
    shared(f"stream {workers}", given(DataLoader(Stream(), 3, **options)), list(range(N)))
