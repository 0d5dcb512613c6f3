"""Writes names into the list of a bucket of radosgw, without their objects, as a PUT of each would have written them.

Usage: /usr/bin/python3 list-fill.py <ceph.conf> < lines

Each line has a name, an ETag, and the name of an object that was stored by a PUT, separated by tabs. Both names have the same length:
the new entry is the one of that object with the other name and ETag. The bucket has one list without shards, and no other one exists.
"""

import re
import sys

import rados

POOL = "default.rgw.buckets.index"
AT_ONCE = 2000
ETAG = re.compile(rb"[0-9a-f]{32}")

cluster = rados.Rados(conffile=sys.argv[1], name="client.admin")
cluster.connect()
pool = cluster.open_ioctx(POOL)


def read(index, name):
    with rados.ReadOpCtx() as op:
        found, _ = pool.get_omap_vals_by_keys(op, (name,))
        pool.operate_read_op(op, index)
        for _, entry in found:
            return bytes(entry)
    return None


def write(index, entries):
    with rados.WriteOpCtx() as op:
        pool.set_omap(op, tuple(entries.keys()), tuple(entries.values()))
        pool.operate_write_op(op, index)


stored = {}
entries = {}
index = None
for line in sys.stdin:
    name, etag, model = line.rstrip("\n").split("\t")
    if model not in stored:
        for one in pool.list_objects():
            entry = read(one.key, model)
            if entry is not None:
                index = one.key
                stored[model] = (entry, ETAG.search(entry).group())
    entry, its_etag = stored[model]
    entries[name] = entry.replace(model.encode(), name.encode()).replace(its_etag, etag.encode())
    if len(entries) >= AT_ONCE:
        write(index, entries)
        entries = {}
if entries:
    write(index, entries)
