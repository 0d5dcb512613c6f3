import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import express from 'express'
import { extendMessages } from '../../src/http/message-classes.ts'
import { messageClasses } from '../../src/process/web/message-classes.ts'
import { type Service, startService } from '../support/service.ts'

describe('the classes of requests and responses', () => {
  it('have the properties of Express from the beginning', async () => {
    const app = express().set('trust proxy', 1)
    const messages = messageClasses()
    extendMessages(app, messages)
    const seen: unknown[] = []
    app.use((req, res) => {
      seen.push(Object.getPrototypeOf(req), Object.getPrototypeOf(res), req.app, req.ip)
      res.json({ ok: true })
    })
    const server = createServer(messages, (req, res) => {
      seen.push(Object.getPrototypeOf(req), Object.getPrototypeOf(res))
      app(req, res)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const headers = { 'X-Forwarded-For': '192.0.2.1' }
    const res = await fetch(`http://127.0.0.1:${port}`, { headers })
    server.close()
    expect(await res.json()).to.deep.equal({ ok: true })
    const { IncomingMessage, ServerResponse } = messages
    const prototypes = [IncomingMessage.prototype, ServerResponse.prototype]
    expect(seen).to.deep.equal([...prototypes, ...prototypes, app, '192.0.2.1'])
  })

  describe('of the service', () => {
    let service: Service
    before(async () => {
      service = await startService()
    })
    after(() => service.stop())

    it('stay as they are, so that V8 has one hidden class for all requests', async () => {
      const changed: object[] = []
      const { setPrototypeOf } = Object
      Object.setPrototypeOf = (one: IncomingMessage, prototype) => {
        if (one.httpVersion && Object.getPrototypeOf(one) !== prototype) changed.push(one)
        return setPrototypeOf(one, prototype)
      }
      const paths = ['/v1/image/upload/pub_x/a.png', '/v1/files', '/healthz', '/nothing']
      for (const path of paths) await fetch(service.url + path).then((res) => res.arrayBuffer())
      Object.setPrototypeOf = setPrototypeOf
      expect(changed).to.deep.equal([])
    })
  })
})
