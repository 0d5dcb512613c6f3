import { type ObjectKey, parseFolder, RECORDS, storedKey } from '../files/object-key.ts'

/** The prefix of the keys of a client's alias records. */
export const aliasRecordPrefix = `${RECORDS}/aliases/`

// On a disk, a folder and a file cannot have the same path. With these endings, the aliases `a` and `a/b` can both exist.
const FOLDER_ENDING = '.d'
const RECORD_ENDING = '.json'

/**
 * Parses the name of an alias, such as `products/chair.jpg`. The rules are those of a folder: at most 8 segments and 200
 * bytes, no `..`, and no segment that is named like a stored file.
 *
 * @throws Problem 400 for an invalid name
 */
export function parseAliasName(name: string, param = 'name'): string {
  return parseFolder(name, param)
}

/** The key of an alias's record, in the client's root. @param name from {@link parseAliasName} */
export function aliasRecordKey(name: string): ObjectKey {
  return storedKey(`${aliasRecordPrefix}${name.replaceAll('/', `${FOLDER_ENDING}/`)}${RECORD_ENDING}`)
}

/** The prefix of the keys of all aliases in a folder and its subfolders. @param folder empty for all aliases */
export function aliasFolderPrefix(folder: string): string {
  if (folder === '') return aliasRecordPrefix
  return `${aliasRecordPrefix}${folder.replaceAll('/', `${FOLDER_ENDING}/`)}${FOLDER_ENDING}/`
}

/** The name of the alias whose record has this key; undefined for all other keys. */
export function aliasNameOf(key: string): string | undefined {
  if (!key.startsWith(aliasRecordPrefix) || !key.endsWith(RECORD_ENDING)) return undefined
  const folders = key.slice(aliasRecordPrefix.length, -RECORD_ENDING.length).split('/')
  const name = folders.pop()
  if (!name || folders.some((one) => !one.endsWith(FOLDER_ENDING))) return undefined
  return [...folders.map((one) => one.slice(0, -FOLDER_ENDING.length)), name].join('/')
}
