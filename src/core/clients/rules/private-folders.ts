import { z } from 'zod'
import { boundedItems } from '../../bounded-schemas.ts'
import { parseFolder } from '../../files/object-key.ts'
import { badParameter } from '../../problem.ts'
import type { Rule } from './rule.ts'

// Compared with the path of each request without a signature.
const FOLDERS_MAX = 100

/** Folders whose files, also those in subfolders, are delivered only by signed URLs. */
export const privateFoldersRule: Rule<readonly string[], readonly string[]> = {
  flags: '--private-folders <folder,folder,…|off>',
  help: 'deliver the files in these folders and their subfolders only by signed URLs',
  docs: {
    example: 'invoices,users/documents',
    json: '(an array)',
    effect:
      'Public URLs of files in these folders and their subfolders must be [signed](../how-to/signed-delivery.md#private-folders)',
  },
  stored: z.array(z.string()).min(1),
  change: () => boundedItems(z.string()),
  expected: 'an array of folders or null',
  apply(received, { param }) {
    const folders = [...new Set(received.map((folder, i) => parseFolder(folder, `${param}[${i}]`)))]
    if (folders.length > FOLDERS_MAX)
      throw badParameter({ param, expected: `at most ${FOLDERS_MAX} folders`, received: folders.length })
    return folders.length > 0 ? folders : undefined
  },
  // `none` was the only word at first. Without `off`, which resets other rules, it would make a folder of this name private.
  parse: (text) => (text === 'off' || text === 'none' ? false : text.split(',')),
  shown: (folders) => `private folders ${folders.join(', ')}`,
}
