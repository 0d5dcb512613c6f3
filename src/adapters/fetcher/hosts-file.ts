import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'

/** Returns the text of a small file, which is read again when it has changed. Empty when it cannot be read. */
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

/** The addresses of a name in a text in the format of `/etc/hosts`, in its order. Empty for a name that is not listed. */
export function addressesInHosts(text: string, hostname: string): string[] {
  const wanted = hostname.toLowerCase()
  return text.split('\n').flatMap((line) => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    return isIP(address) && names.some((name) => name.toLowerCase() === wanted) ? [address] : []
  })
}
