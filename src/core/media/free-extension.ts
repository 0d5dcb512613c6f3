import { type Format, formatNamed, formatOfExtension, knownFormat } from './formats.ts'
import type { MediaGroup } from './groups.ts'

// The format of files without a known signature.
const UNKNOWN = 'bin'
const EXTENSION = /^(?=.*[a-z])[a-z0-9]{1,15}$/

// Extensions of files that browsers run, or render as a document, also when a server derives the media type from the
// name: a public bucket, or nginx in front of its folder.
const RUN_BY_BROWSERS = wordsOf(`
  html htm xhtml xht xhtm shtml shtm phtml mhtml mht hta htc asp aspx jsp svg svgz xml xsl xslt xsd
  xul xbl rdf rss atom mathml mml xaml vml js mjs cjs jsx ts tsx es ecma json jsonld css wasm vbs vbe
  wsf php swf spl jar jnlp class xap xpi crx appcache manifest webmanifest url lnk pdf
`)

// Other extensions of formats that are recognised by their bytes. An unknown file does not get one of them: its bytes
// contradict its name.
const RECOGNISED = wordsOf(`
  jpe jfif jfi jif pjp pjpeg apng hif heif heifs heics avifs dib jpf j2k jpc mpg mpe mp4v qt m2v m1v
  mts m2t vob asf divx mpv ogm mk3d mks oga mka m4r aifc mpga wave kar snd psb ps ai tgz tbz tbz2 txz
  tzst dot xlt pot pps xla aar cbr exe dll so dylib
`)

/** Whether a file of the format `bin` may have this extension. */
function mayBeFree(extension: string): boolean {
  return EXTENSION.test(extension) && !RUN_BY_BROWSERS.has(extension)
}

/** The format `bin` with the extension of an unknown file. */
export function freeFormat(extension: string): Format {
  return { ...knownFormat(UNKNOWN), extension }
}

/**
 * Returns the extension that an unknown file gets from its name. Undefined when it is the extension of a known
 * format, which the bytes contradict, or one whose files browsers run.
 *
 * @param extension in lower case, without the dot
 */
export function safeExtension(extension: string): string | undefined {
  const isKnown =
    RECOGNISED.has(extension) ||
    formatOfExtension(extension) !== undefined ||
    formatNamed(extension) !== undefined
  return isKnown || !mayBeFree(extension) ? undefined : extension
}

/** Returns the format with this name in a key; undefined when files of that format have another extension. */
export function formatInKey(name: string, extension: string | undefined): Format | undefined {
  const format = formatNamed(name)
  if (format?.extension === extension) return format
  if (extension === undefined) return undefined
  return name === UNKNOWN && mayBeFree(extension) ? freeFormat(extension) : undefined
}

/**
 * Returns the format of a short path, by the extension alone. A later version may add a format of another group for
 * an extension. URLs of the group `application` then still lead to the unknown files that were stored before. So a
 * new format of the group `application` needs an extension that no unknown file could have, or such files stay `bin`.
 *
 * @param group the group in the URL, if any
 */
export function formatMeant(extension: string, group: MediaGroup | undefined): Format | undefined {
  const known = formatOfExtension(extension)
  if (known && (group === undefined || known.group === group)) return known
  const free = mayBeFree(extension) ? freeFormat(extension) : undefined
  return group === undefined || free?.group === group ? free : undefined
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}
