import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import type { Request, Response } from 'express'
import { jsonBody } from '../../../../src/http/body/json.ts'
import { clientGone } from '../../../../src/http/request.ts'
import { takeBody } from '../../../../src/http/tus/body.ts'
import { fileParts } from '../../../../src/http/upload/multipart.ts'
import { rawFile } from '../../../../src/http/upload/raw-body.ts'

// Without a minimum: no reader ends by its own timeout.
const RATE = { minBytesPerSecond: 0 }

/** All that read a request's body, each to its end. */
const READERS: Record<string, { type: string; read(req: Request, signal: AbortSignal): Promise<unknown> }> = {
  form: {
    type: 'multipart/form-data; boundary=b',
    async read(req, signal) {
      const parts = fileParts(req, { ...RATE, maxFiles: 1, onField: () => {}, signal })
      for await (const { bytes } of parts) await bytes.toArray()
    },
  },
  file: {
    type: 'text/plain',
    async read(req, signal) {
      for await (const { bytes } of rawFile(req, { ...RATE, name: 'a', signal })) await bytes.toArray()
    },
  },
  JSON: {
    type: 'application/json',
    read: (req) => jsonBody(req, { ...RATE, maxBytes: 1000, payer: 'client first' }),
  },
  'piece of a resumable upload': {
    type: 'application/offset+octet-stream',
    read: (req) => text(takeBody(req).bytes),
  },
}

describe('a body whose client has disconnected before it is read', () => {
  for (const [what, { type, read }] of Object.entries(READERS))
    it(`fails at once instead of waiting: a ${what}`, async () => {
      const server = createServer().listen(0, '127.0.0.1')
      const outcome = new Promise((resolve) =>
        server.once('request', async (req: IncomingMessage, res: ServerResponse) => {
          // As while a limit is asked for in Redis.
          if (!res.destroyed) await once(res, 'close')
          read(req as Request, clientGone(res as Response)).then(resolve, resolve)
        }),
      )
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const socket = connect(port, '127.0.0.1')
      socket.write(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: 1000\r\n\r\n--b\r\n`,
      )
      await once(server, 'request')
      socket.destroy()
      // A resumable upload stores what has come, which is nothing.
      expect(await outcome).to.satisfy((one: unknown) => one instanceof Error || one === '')
      server.close()
    })
})
