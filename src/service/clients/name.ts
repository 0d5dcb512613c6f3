import { UNSEEN_CHARACTER } from '../../core/files/relative-path.ts'
import { badParameter } from '../../core/problem.ts'

const NAME_MAX_BYTES = 100

/** Checks the name of a client or of a secret. @throws Problem 400 */
export function checkClientName(name: string): void {
  const bytes = Buffer.byteLength(name)
  if (bytes > 0 && bytes <= NAME_MAX_BYTES && name.trim() === name && !UNSEEN_CHARACTER.test(name)) return
  throw badParameter({
    param: 'name',
    expected: `1 to ${NAME_MAX_BYTES} bytes without control characters, marks of text direction or spaces at the ends`,
    received: name,
  })
}
