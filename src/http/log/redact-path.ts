// A generated secret, or the token of an operator who has signed in; the first letters are enough, wherever they stand.
const GENERATED = /sec_[1-9A-HJ-NP-Za-km-z]{16}|adm_[\w-]{16}|(?<![\w-])(?:sec|adm)_/
// As short as a secret may be.
const RUN = /[\w-]{16,}/g
const MAX_DECODINGS = 3

/** How a secret is known. */
export interface SecretsKnown {
  /** In the clear: found in the middle of whatever stands around them. */
  secrets: readonly string[]
  /** Whether a whole word is one of those that are only known by their digests. */
  isSecret(word: string): boolean
}

// What follows the client token in the address of a remote file.
const REMOTE = /^(\/+v1\/+[^/]*\/+fetch\/+(?:keep\/+)?[^/]*\/+)(.+)$/is

/** A path with `…` for what a remote file's URL has behind its host: a signature, perhaps, that gives access to it. */
export function withoutRemotePath(path: string): string {
  return path.replace(REMOTE, (_, before: string, remote: string) => `${before}${originOf(remote)}…`)
}

function originOf(segment: string): string {
  try {
    const { origin } = new URL(decodeURIComponent(segment))
    return origin === 'null' ? '' : encodeURIComponent(origin)
  } catch {
    return ''
  }
}

/**
 * A path with `…` for what gives access to something in it: the signature of a link, the address of an upload that was begun
 * by one, and each segment that has a secret in it, as after `Bearer%20` or `token=`; percent-encoded or not. Of a secret
 * that nobody has in the clear only what is a segment, or a run of letters, digits, "-" and "_", is found.
 */
export function redactPath(path: string, { secrets, isSecret }: SecretsKnown): string {
  const unsigned = path
    .split('/')
    .map((segment) => (spellings(segment).some((text) => SIGNATURE.test(text)) ? '…' : segment))
    .join('/')
  return withoutSecrets(withoutAccess(unsigned), { secrets, isSecret })
}

// Of a link or a folder, in whatever address: whoever reads the log could use the link, or read all that is in the folder.
const SIGNATURE = /\.[\w-]{43}/

// What is signed of a link, whole or not.
const LINK = /^(\/+v1\/+upload\/+sign\/+[^/]*\/+)[^/]+/i

// The address of an upload that was begun by a link: whoever has it may go on with it.
const RESUMABLE = /^(\/+v1\/+tus\/+)[^/~]+~/i

function withoutAccess(path: string): string {
  const gives = (text: string) => LINK.test(text) || RESUMABLE.test(text)
  if (gives(path)) return path.replace(LINK, '$1…').replace(RESUMABLE, '$1…~')
  // No route is spelled so, but who has it can spell it right.
  return spellings(path).some(gives) ? '/…' : path
}

function withoutSecrets(path: string, { secrets, isSecret }: SecretsKnown): string {
  const holds = (text: string) => secrets.some((secret) => text.includes(secret))
  const hides = (text: string) =>
    holds(text) ||
    GENERATED.test(text) ||
    [...new Set([text, ...(text.match(RUN) ?? [])])].some((word) => isSecret(word))
  const masked = path
    .split('/')
    .map((segment) => (spellings(segment).some(hides) ? '…' : segment))
    .join('/')
  // One that has slashes of its own.
  return spellings(masked).some(holds) ? '/…' : masked
}

/** A text and what it is decoded to, again and again; what is no encoding stays. */
function spellings(text: string): string[] {
  const all = [text]
  for (let last = text; last.includes('%') && all.length <= MAX_DECODINGS; all.push(last)) {
    const next = last.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    if (next === last) break
    last = next
  }
  return all
}
