import type { SluiceClient } from '../../../../../client/index.ts'

interface Waiting {
  url: string
  resolve: (signed: string) => void
  reject: (error: unknown) => void
}

const waiting = new Map<SluiceClient, Waiting[]>()
// The tiles of one screen appear within a few frames.
const COLLECT_MS = 30

/** Signs a URL, together with others that are wanted at the same time. */
export function signedSoon(sluice: SluiceClient, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const others = waiting.get(sluice)
    if (others) {
      others.push({ url, resolve, reject })
      return
    }
    const all: Waiting[] = [{ url, resolve, reject }]
    waiting.set(sluice, all)
    setTimeout(() => {
      waiting.delete(sluice)
      sluice.urls.sign(all.map((one) => one.url)).then(
        (signed) => {
          for (const [index, one] of all.entries()) one.resolve(signed[index] ?? one.url)
        },
        (error) => {
          for (const one of all) one.reject(error)
        },
      )
    }, COLLECT_MS)
  })
}
