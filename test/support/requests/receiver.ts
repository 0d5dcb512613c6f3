import type { IncomingHttpHeaders } from 'node:http'
import { type Remote, remote } from './remote.ts'

/** A server that receives webhooks. */
export interface Receiver extends Remote {
  received: Array<{ headers: IncomingHttpHeaders; body: Buffer; at: number }>
  /** What it answers with from now on; 0 is no answer at all. */
  status: number
  /** The headers and the body of its responses. */
  headers: Record<string, string>
  answer: string
}

export async function receiver(status = 204, port = 0): Promise<Receiver> {
  const received: Receiver['received'] = []
  const state = { status, headers: {}, answer: '' }
  const server = await remote(
    async (req, res) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk)
      received.push({ headers: req.headers, body: Buffer.concat(chunks), at: Date.now() })
      if (state.status !== 0)
        res.writeHead(state.status, { location: '/elsewhere', ...state.headers }).end(state.answer)
    },
    { port },
  )
  return Object.assign(state, server, { received })
}
