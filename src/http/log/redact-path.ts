// A generated secret, or the token of a signed-in operator. Its first letters are enough, at any position.
const GENERATED = /sec_[1-9A-HJ-NP-Za-km-z]{16}|adm_[\w-]{16}|(?<![\w-])(?:sec|adm)_/
// The minimum length of a secret.
const RUN = /[\w-]{16,}/g
const MAX_DECODINGS = 3

/** How secrets are recognized. */
export interface SecretsKnown {
  /** Secrets in plain text. They are found inside any other text. */
  secrets: readonly string[]
  /** Whether a whole word is one of the secrets that are only known by their digests. */
  isSecret(word: string): boolean
}

// The URL after the client token in the path of a remote file.
const REMOTE = /^(\/+v1\/+[^/]*\/+fetch\/+(?:keep\/+)?[^/]*\/+)(.+)$/is

/** Replaces the path and query of a remote URL by `…`: they may contain a signature that gives access. */
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
 * Replaces parts of a path that give access by `…`: the signature of a link, the ID of an upload that was begun by a
 * link, and each segment that contains a secret, as after `Bearer%20` or `token=`, percent-encoded or not. A secret
 * that is only known by its digest is found when it is a segment, or a run of letters, digits, "-" and "_".
 */
export function redactPath(path: string, { secrets, isSecret }: SecretsKnown): string {
  if (isPlain(path, { secrets, isSecret })) return path
  const unsigned = path
    .split('/')
    .map((segment) => (decodings(segment).some((text) => SIGNATURE.test(text)) ? '…' : segment))
    .join('/')
  return withoutSecrets(withoutAccess(unsigned), { secrets, isSecret })
}

/** Whether nothing in a path has to be replaced. Most paths are plain, and this takes less than half of the time. */
function isPlain(path: string, { secrets, isSecret }: SecretsKnown): boolean {
  if (path.includes('%') || SIGNATURE.test(path) || GENERATED.test(path)) return false
  if (givesAccess(path) || secrets.some((secret) => path.includes(secret))) return false
  return ![...new Set([...path.split('/'), ...(path.match(RUN) ?? [])])].some((word) => isSecret(word))
}

// The signature of a link or folder, at any position: a reader of the log could use the link, or read all files in the folder.
const SIGNATURE = /\.[\w-]{43}/

// The signed part of a link, complete or not.
const LINK = /^(\/+v1\/+upload\/+sign\/+[^/]*\/+)[^/]+/i

// The ID of an upload that was begun by a link: with it, anyone can continue or complete the upload.
const RESUMABLE = /^(\/+v1\/+(?:tus|upload\/+direct)\/+)[^/~]+~/i

// The ID of a link to an archive: with it, anyone can download the archive.
const ARCHIVE = /^(\/+v1\/+zip\/+)(?!links\/*$)[^/]+/i

function withoutAccess(path: string): string {
  if (givesAccess(path)) return path.replace(LINK, '$1…').replace(RESUMABLE, '$1…~').replace(ARCHIVE, '$1…')
  // No route matches this spelling, but a reader of the log could correct it.
  return decodings(path).some(givesAccess) ? '/…' : path
}

function givesAccess(path: string): boolean {
  return LINK.test(path) || RESUMABLE.test(path) || ARCHIVE.test(path)
}

function withoutSecrets(path: string, { secrets, isSecret }: SecretsKnown): string {
  const holds = (text: string) => secrets.some((secret) => text.includes(secret))
  const hides = (text: string) =>
    holds(text) ||
    GENERATED.test(text) ||
    [...new Set([text, ...(text.match(RUN) ?? [])])].some((word) => isSecret(word))
  const masked = path
    .split('/')
    .map((segment) => (decodings(segment).some(hides) ? '…' : segment))
    .join('/')
  // A secret that itself contains slashes.
  return decodings(masked).some(holds) ? '/…' : masked
}

/** A text and the results of decoding it repeatedly. Invalid percent-encoding is left unchanged. */
function decodings(text: string): string[] {
  const all = [text]
  for (let last = text; last.includes('%') && all.length <= MAX_DECODINGS; all.push(last)) {
    const next = last.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    if (next === last) break
    last = next
  }
  return all
}
