import { fittedName } from './file-name.ts'
import { UNSEEN_CHARACTER } from './relative-path.ts'

// Windows reads these characters as a drive, a stream, a pattern or a redirection.
const NOT_ON_WINDOWS = /[<>:"|?*]/
const UNSAFE = new RegExp(`${NOT_ON_WINDOWS.source}|${UNSEEN_CHARACTER.source}`, 'gu')
// Windows removes these, so that "a." would become "a".
const LAST_DOT_OR_SPACE = /[. ]$/
// Device names on Windows, with any extension, and also before spaces.
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?= *(?:\.|$))/i

/**
 * Returns a relative path that every system can unpack. `_` replaces characters that Windows or a terminal cannot
 * handle, and is appended to the name of a device: `nul.txt` becomes `nul_.txt`. Different paths may become the same.
 */
export function portableName(path: string): string {
  return path.split('/').map(portableSegment).join('/')
}

function portableSegment(segment: string): string {
  const safe = segment.replace(UNSAFE, '_').replace(LAST_DOT_OR_SPACE, '_')
  const device = DEVICE.exec(safe)?.[0]
  return device === undefined ? safe : fittedName(`${device}_${safe.slice(device.length)}`, '')
}
