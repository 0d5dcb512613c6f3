import { createHash } from 'node:crypto'
import { importSource } from '../../ready/sources.js'
import { Pipe } from './pipe.js'

// The members of a leaf of a list: those that are added in their order fill leaves, others leave as much room as in a B-tree.
const LEAF = { key: 89, storedAt: 128, sha256: 89, name: 128, size: 89 }
const MEMBER_MAX = 64
const BYTES = 'latin1'

/**
 * Writes the keys of originals into an index in Redis that has no original of this client. The result is that of `adopt` of the index,
 * followed by `tidy`, but for the members of a leaf. It takes a twentieth of Redis' time, because no script compares what is known before.
 *
 * @param {ReadonlyArray<object>} keyspaces as `RedisKeyspaces` has them: one, or one for each partition
 * @param {{clientId: string, count: number, idOf: () => string, fileOf: (i: number, id: string) => object, turn?: number, turns?: number}}
 *   options `fileOf` returns a `record` and its `recordTag` for each number from 1 to `count`. The names are ASCII. Several processes
 *   share the work: each has its own `turn`, from 0 to `turns` (exclusive)
 */
export async function writeAll(keyspaces, { clientId, count, idOf, fileOf, turn = 0, turns = 1 }) {
  const { partitionNumber } = await importSource('adapters/file-index/partitioned/division.ts')
  const write = await partitionWriter(clientId)
  // The partition depends on the id alone, which is the last part of a key.
  const numberOf = (id) =>
    keyspaces.length === 1 ? 0 : partitionNumber({ clientId, key: id }, keyspaces.length)
  const ids = []
  const files = keyspaces.map(() => [])
  for (let i = 1; i <= count; i += 1) {
    if (turnOf(i, turns) !== turn) continue
    let id = idOf()
    while (numberOf(id) % turns !== turn) id = idOf()
    files[numberOf(id)].push(ids.length)
    ids.push([i, id])
  }
  for (const [number, some] of files.entries())
    if (some.length > 0) await write(keyspaces[number], some, (n) => fileOf(...ids[n]))
}

/** Each process has files of all folders and days. */
function turnOf(i, turns) {
  return (Math.imul(i, 2_654_435_761) >>> 16) % turns
}

async function partitionWriter(clientId) {
  const { keyNames, folderKeys, searchKey } = await importSource('adapters/file-index/redis/keys.ts')
  const { packedListed } = await importSource('adapters/file-index/redis/entries/originals.ts')
  const { PIECE } = await importSource('adapters/file-index/redis/entries/pieces.ts')
  const { KEY_FIELD } = await importSource('adapters/file-index/redis/lists/lua.ts')
  const { idIn, memberOf, placeBytes, withoutId } = await importSource(
    'adapters/file-index/redis/lists/places.ts',
  )
  const { searchText } = await importSource('adapters/file-index/redis/search/search.ts')
  const { BLOCK, DIGEST_BYTES, GROUP, NUMBER_BYTES, NUMBER_FIELD } = await importSource(
    'adapters/file-index/redis/search/lua.ts',
  )
  const NO_PLACE = { key: '' }
  const NO_PLACE_BYTES = placeBytes(NO_PLACE).length
  const { sealed } = await importSource('adapters/file-index/redis/search/postings.ts')

  /** The field of a file with its number in the search and the digest of its texts. */
  function numbered(number, texts) {
    const bytes = Buffer.alloc(NUMBER_BYTES)
    bytes.writeUIntBE(number, 0, NUMBER_BYTES)
    return bytes.toString(BYTES) + createHash('sha1').update(texts).digest(BYTES).slice(0, DIGEST_BYTES)
  }

  /** The postings of the block that is being filled, by their trigram. */
  function addTerms(postings, name, number) {
    const seen = new Set()
    for (let i = 0; i + 3 <= name.length; i += 1) {
      const code = (name.charCodeAt(i) << 16) | (name.charCodeAt(i + 1) << 8) | name.charCodeAt(i + 2)
      if (seen.has(code)) continue
      seen.add(code)
      const posting = postings.get(code)
      if (posting) posting.push(number)
      else postings.set(code, [number])
    }
  }

  /** Writes the postings of a block. Those of a full one are sealed, as `tidy` does. */
  async function writeBlock(pipe, { search, block, postings, living }) {
    pipe.add('HSET', search, String(block), String(living))
    const terms = []
    for (const [code, numbers] of postings) {
      const term = String.fromCharCode(code >> 16, (code >> 8) & 255, code & 255)
      const bytes = Buffer.alloc(2 * numbers.length)
      for (const [i, number] of numbers.entries()) bytes.writeUInt16BE(number, 2 * i)
      pipe.add('SET', `${search}${block}:${term}`, (living === BLOCK ? sealed(bytes) : bytes).toString(BYTES))
      terms.push(term)
      await pipe.room()
    }
    for (let from = 0; from < terms.length; from += 100)
      pipe.add('RPUSH', `${search}terms:${block}`, ...terms.slice(from, from + 100))
    postings.clear()
  }

  async function writeList(pipe, { list, members, most }) {
    members.sort()
    for (let from = 0; from < members.length; from += most) {
      const some = members.slice(from, from + most)
      const least = from === 0 ? '' : some[0]
      // Redis looks for the place of a member from the first one on.
      pipe.add('ZADD', `${list}/${least}`, ...some.reverse().flatMap((member) => ['0', member]))
      pipe.add('ZADD', `${list}:leaves`, '0', least)
      await pipe.room()
    }
  }

  async function writeCounts(pipe, { hash, subfolders, totals, counts }) {
    for (const [folder, { files, bytes, directFiles }] of counts) {
      const field = `stored\n${folder}\n`
      pipe.add('HSET', hash, `${field}files`, String(files), `${field}bytes`, String(bytes))
      if (directFiles > 0) pipe.add('HSET', hash, `${field}directFiles`, String(directFiles))
      const end = folder.lastIndexOf('/')
      if (folder !== '')
        pipe.add('ZADD', subfolders, '0', `${folder.slice(0, Math.max(0, end))}\n${folder.slice(end + 1)}`)
      await pipe.room()
    }
    const { files, bytes } = counts.get('')
    pipe.add('HSET', totals, 'stored files', String(files), 'stored bytes', String(bytes))
  }

  return async ({ redis, keyPrefix }, numbers, fileOf) => {
    const { remoteAddress: host, remotePort: port } = redis.client.stream
    const pipe = new Pipe({ host, port })
    const { prefix, hashAt, listOf, totalsOf } = keyNames(keyPrefix)
    const search = searchKey(prefix, clientId)
    const members = Object.fromEntries(Object.keys(LEAF).map((by) => [by, []]))
    const counts = new Map()
    const postings = new Map()
    let places = []
    for (const [number, i] of numbers.entries()) {
      const { record, recordTag } = fileOf(i)
      const place = { id: idIn(record.key) }
      const texts = searchText(record)
      const entry = packedListed({ state: 'stored', record, recordTag }).toString(BYTES)
      const pieces = [entry.slice(0, PIECE), entry.slice(PIECE, 2 * PIECE), entry.slice(2 * PIECE)]
      pipe.add(
        ...['HSET', hashAt(clientId, place), '', pieces[0], '1', pieces[1], '2', pieces[2]],
        ...[KEY_FIELD, withoutId(record.key), NUMBER_FIELD, numbered(number, texts)],
      )
      const placed = placeBytes(place).toString(BYTES)
      for (const by of Object.keys(LEAF)) {
        // The place is the same in all lists.
        const member =
          by === 'key'
            ? record.key
            : memberOf(record, by, NO_PLACE).latin1Slice().slice(0, -NO_PLACE_BYTES) + placed
        if (member.length > MEMBER_MAX) throw new Error(`expected short names, received ${record.key}`)
        members[by].push(member)
      }
      count(counts, record)
      addTerms(postings, texts, number % BLOCK)
      places.push(String(number % GROUP), placed)
      const isLast = number === numbers.length - 1
      if (isLast || number % GROUP === GROUP - 1) {
        pipe.add('HSET', `${search}places:${Math.floor(number / GROUP)}`, ...places)
        places = []
      }
      if (isLast || number % BLOCK === BLOCK - 1) {
        const block = Math.floor(number / BLOCK)
        await writeBlock(pipe, { search, block, postings, living: number + 1 - block * BLOCK })
      }
      await pipe.room()
    }
    pipe.add('HSET', search, 'next', String(numbers.length))
    for (const [by, most] of Object.entries(LEAF)) {
      const list = listOf(clientId, { state: 'stored', by })
      await writeList(pipe, { list, members: members[by], most })
      members[by] = []
    }
    const [hash, subfolders] = folderKeys(prefix, clientId)
    await writeCounts(pipe, { hash, subfolders, totals: totalsOf(clientId), counts })
    await pipe.drained()
    await pipe.end()
  }
}

const AFTER_FOLDER = /\/?[^/]+\/[^/]+\/[^/]+$/

/** Counts an original in its folder and all above it. */
function count(counts, { key, size }) {
  const own = key.replace(AFTER_FOLDER, '')
  for (let folder = own; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const known = counts.get(folder) ?? { files: 0, bytes: 0, directFiles: 0 }
    known.files += 1
    known.bytes += size
    if (folder === own) known.directFiles += 1
    counts.set(folder, known)
    if (folder === '') return
  }
}
