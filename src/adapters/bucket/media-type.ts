import { bundleFile, bundleMediaType } from '../../core/files/bundle.ts'
import { type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import { sniff } from '../../core/media/sniff/sniff.ts'

/** The media type of objects whose content is unknown. */
export const UNKNOWN_MEDIA_TYPE = 'application/octet-stream'
// Amazon states the second one for objects that were put without a type.
const GENERAL = new Set([UNKNOWN_MEDIA_TYPE, 'binary/octet-stream'])

/**
 * The media type of an object, when the index does not know it. That of an original is part of its key, that of a part of a bundle
 * follows from its name. That of a derivative is found in its bytes, since a plugin may have chosen any type.
 *
 * @param head reads the first bytes of the object; undefined when it does not exist
 * @param stated what the store states. A copy by another program states no type, or one that it has guessed from the name
 */
export async function mediaTypeOf(
  key: ObjectKey,
  head: () => Promise<Uint8Array | undefined>,
  stated = UNKNOWN_MEDIA_TYPE,
): Promise<string> {
  const name = parseKey(key)
  if (name && name.variant === undefined) return name.format.mediaType
  const fileName = key.slice(key.lastIndexOf('/') + 1)
  if (name && bundleFile(fileName)) return bundleMediaType(fileName)
  if (!GENERAL.has(stated)) return stated
  const bytes = await head()
  return bytes === undefined ? UNKNOWN_MEDIA_TYPE : (await sniff(bytes, key)).mediaType
}
