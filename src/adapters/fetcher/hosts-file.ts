import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'

/** The text of a small file, read again when it has changed; empty when it cannot be read. */
export function watchedText(file: string): () => Promise<string> {
  let known = { changedMs: Number.NaN, text: '' }
  return async () => {
    try {
      const { mtimeMs } = await stat(file)
      if (mtimeMs !== known.changedMs) known = { changedMs: mtimeMs, text: await readFile(file, 'utf8') }
      return known.text
    } catch {
      return ''
    }
  }
}

/** The addresses that a text like `/etc/hosts` gives a name, in its order; empty for a name that it does not list. */
export function addressesInHosts(text: string, hostname: string): string[] {
  const wanted = hostname.toLowerCase()
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    return isIP(address) && names.some((name) => name.toLowerCase() === wanted) ? [address] : []
  })
}
