import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { inOrder } from '../../src/http/in-order.ts'

describe('handlers in order', () => {
  /** The response to a request that these handlers see first. */
  async function answerOf(...handlers: RequestHandler[]): Promise<string> {
    const app = express()
    app.use(inOrder(...handlers))
    app.use((_req, res) => {
      res.end('passed')
    })
    app.use(((error, _req, res, _next) => {
      res.end(`refused: ${error.message}`)
    }) satisfies ErrorRequestHandler)
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      return await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).text()
    } finally {
      server.close()
    }
  }

  const pass: RequestHandler = (_req, _res, next) => next()
  const passLater: RequestHandler = (_req, _res, next) => setImmediate(next)
  const refuse: RequestHandler = () => {
    throw new Error('no')
  }

  it('pass a request that none of them answers', async () => {
    expect(await answerOf(pass, passLater, pass)).to.equal('passed')
  })

  it('answer what they throw, also after a wait', async () => {
    expect(await answerOf(pass, refuse)).to.equal('refused: no')
    expect(await answerOf(passLater, refuse)).to.equal('refused: no')
  })

  it('answer the error that one of them passes on', async () => {
    expect(await answerOf((_req, _res, next) => next(new Error('none')), pass)).to.equal('refused: none')
  })

  it('do not run after the one that has answered', async () => {
    const answer: RequestHandler = (_req, res) => {
      res.end('answered')
    }
    expect(await answerOf(pass, answer, refuse)).to.equal('answered')
  })
})
