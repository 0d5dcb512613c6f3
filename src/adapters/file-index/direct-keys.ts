import { folderOfKey } from '../../core/files/folder.ts'
import { type ObjectKey, storedKey } from '../../core/files/object-key.ts'
import { FORMATS } from '../../core/media/formats.ts'
import type { FolderKeysRequest } from '../../core/ports/index/folder-keys.ts'
import { byBytes } from '../../core/text/byte-order.ts'
import { type Bounds, boundsOf } from './positions.ts'

/** Reads keys between two bounds from a list by key, in the direction of the request. */
export type ReadKeys = (bounds: Bounds, limit: number) => Promise<readonly string[]>

// The beginnings of all keys within their folder, sorted by their bytes: `image/png/`.
const BEGINNINGS = [...new Set(FORMATS.map(({ group, name }) => `${group}/${name}/`))].sort()
// Keys read at a time. After a jump, few of the next keys may be in the folder itself.
const FIRST = 32
const PAGE = 500

/**
 * Reads the keys in a folder itself. The list has them between the keys of subfolders, so this jumps over these: from one
 * format to the next one. A folder has no more than a few formats, and so there are no more than a few jumps.
 */
export async function readDirectKeys(
  read: ReadKeys,
  { folder, direction = 'up', after, limit }: Omit<FolderKeysRequest, 'state'>,
): Promise<ObjectKey[]> {
  const prefix = folder === '' ? '' : `${folder}/`
  let bounds: Bounds | undefined = boundsOf({
    direction,
    ...(prefix !== '' && { prefix }),
    ...(after !== undefined && { after }),
  })
  const keys: ObjectKey[] = []
  for (let size = FIRST; bounds && keys.length < limit; ) {
    const most = Math.min(size, limit - keys.length)
    const names = await read(bounds, most)
    const direct = names.map(storedKey).filter((key) => folderOfKey(key) === folder)
    keys.push(...direct)
    const last = names.at(-1)
    if (last === undefined || names.length < most) break
    const isDirect = direct.at(-1) === last
    size = isDirect ? PAGE : FIRST
    bounds = isDirect ? beyond(bounds, last, direction) : jump(bounds, { last, prefix, direction })
  }
  return keys
}

/** The bounds behind a key of a subfolder and all others up to the next one that may be in the folder itself. */
function jump(
  bounds: Bounds,
  { last, prefix, direction }: { last: string; prefix: string; direction: 'up' | 'down' },
): Bounds | undefined {
  const [group = '', format = '', subfolder = ''] = last.slice(prefix.length).split('/')
  const beginning = `${group}/${format}/`
  // The subfolder has the name of a format.
  if (BEGINNINGS.includes(beginning)) {
    const within = `${prefix}${beginning}${subfolder}`
    return beyond(bounds, direction === 'up' ? `${within}0` : `${within}/`, direction)
  }
  if (direction === 'up') {
    const next = BEGINNINGS.find((one) => byBytes(beginning, one) < 0)
    return next === undefined ? undefined : beyond(bounds, `${prefix}${next}`, direction)
  }
  const next = BEGINNINGS.findLast((one) => byBytes(one, beginning) < 0)
  // "0" is the byte after "/".
  return next === undefined ? undefined : beyond(bounds, `${prefix}${next.slice(0, -1)}0`, direction)
}

function beyond({ above, below }: Bounds, position: string, direction: 'up' | 'down'): Bounds {
  return direction === 'up' ? { above: position, below } : { above, below: position }
}
