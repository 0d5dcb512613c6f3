import { stat } from 'node:fs/promises'
import { flushUpTo, linkInto, unlessMissing } from './folders.ts'

// The target exists, the file has too many names, or the file system has no hard links.
const NO_LINK = ['EEXIST', 'EMLINK', 'EPERM', 'EXDEV', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL']

/**
 * Copies a file as a hard link, which takes no space and no time: stored files are never changed in place. It is durable when this
 * resolves. It gets its final name at once: under a temporary name, a sweep would take it for an old one by its time.
 *
 * @returns false when the file does not exist; undefined when its bytes have to be copied instead
 */
export async function linkCopy(
  source: string,
  { path, root }: { path: string; root: string },
): Promise<boolean | undefined> {
  try {
    const made = await linkInto(source, path)
    await flushUpTo(path, { made, root })
    return true
  } catch (error) {
    if (NO_LINK.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    if (!(await unlessMissing(stat(source)))) return false
    throw error
  }
}
