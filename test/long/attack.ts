import { type ClientRequest, request } from 'node:http'
import sharp from 'sharp'

/** A photo that is as dear to encode as a real one: noise of so many pixels, as JPEG. */
export async function photo({ width, height }: { width: number; height: number }): Promise<Buffer> {
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const
  return sharp({ create: { width, height, channels: 3, background: 'gray', noise } })
    .jpeg()
    .toBuffer()
}

/** A GET from an address of the loopback range. @returns its status once the answer has come to its end */
export function getFrom(localAddress: string, url: string, begun: (req: ClientRequest) => void = () => {}) {
  return new Promise<number>((resolve, reject) => {
    const sent = request(url, { localAddress, agent: false }, (response) => {
      response
        .resume()
        .once('end', () => resolve(response.statusCode ?? 0))
        .once('error', reject)
    })
    sent.once('error', reject).end()
    begun(sent)
  })
}

/** On 127.0.0.1, whatever name the URL has. */
export function onLoopback(src: string, url: string): string {
  return `${url}${new URL(src).pathname}`
}
