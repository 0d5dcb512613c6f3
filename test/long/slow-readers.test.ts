import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { uploadOne } from '../support/client.ts'
import { residentBytes } from '../support/heavy.ts'
import { startProcess } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MIB = 1024 ** 2
const READERS = 500

// H3 of docs/explanation/security.md.
describe('long: slow readers of a large file', function () {
  this.timeout(120_000)
  let dataDir: string
  before(async () => {
    dataDir = await temporaryFolder()
  })
  after(() => rm(dataDir, { recursive: true, force: true }))

  it(`leave the process below 250 MB, ${READERS} of them`, async () => {
    const server = await startProcess({ env: { DATA_DIR: dataDir } })
    const { src } = await uploadOne(server, { name: 'a.bin', bytes: Buffer.alloc(8 * MIB, 'sluice ') })
    const { hostname, port } = new URL(server.url)
    const sockets: Socket[] = []
    for (let i = 0; i < READERS; i += 1) {
      const socket = connect({ host: hostname, port: Number(port) })
      // Its answer waits in the kernel's buffers and in the server.
      socket.on('error', () => {}).pause()
      socket.write(`GET ${new URL(src).pathname} HTTP/1.1\r\nHost: x\r\n\r\n`)
      sockets.push(socket)
    }
    await pause(10_000)
    const resident = await residentBytes(server)
    for (const socket of sockets) socket.destroy()
    server.child.kill('SIGTERM')
    await server.ended
    expect(resident / MIB).to.be.below(250)
  })
})
