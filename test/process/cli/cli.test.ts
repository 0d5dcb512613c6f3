import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { eventually } from '../../support/eventually.ts'
import { type Ended, sluice, startCli } from '../../support/programs/cli.ts'
import { asCaller, isAccepted, operated } from '../../support/programs/operated.ts'
import { openSocket } from '../../support/requests/exchange.ts'
import { PROJECT } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'

/** What `own.sluice` does in this process, the built program does in its own: arguments, streams, exit codes, signals. */
describe('the sluice program', () => {
  const own = operated()

  const run = (...args: string[]): Promise<Ended> => sluice(args, own.env)

  // In `npm test`, storage.test.ts starts a program that has a result.
  itLong('prints the result, and creates a client that the running server accepts at once', async () => {
    const server = await own.start()
    const { code, stdout, stderr } = await run('client', 'create', '--json')
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
    expect(await isAccepted(asCaller(server, JSON.parse(stdout)))).to.equal(true)
  })

  it('exits with 1 after an error of the command, and with 2 after wrong usage', async () => {
    await own.start()
    const unknown = await run('client', 'show', 'nobody')
    expect(unknown).to.include({ code: 1, stdout: '' })
    expect(unknown.stderr).to.match(/^sluice: .*nobody/)
    const wrong = await run('nonsense')
    expect(wrong).to.include({ code: 2, stdout: '' })
    expect(wrong.stderr).to.match(/nonsense.*\n.*--help/)
  })

  it('stops at Ctrl-C, and aborts the command in the server', async () => {
    const server = await own.start()
    const client = await own.newClient()
    // An upload that does not come to its end: the removal waits for it.
    const upload = await openSocket(server)
    upload.write(
      `POST /v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: ${client.secretClientToken}\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000\r\n\r\n' +
        '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n',
    )
    upload.write('x'.repeat(20_000))
    const inProgress = async () => (await own.json<{ inProgress: number }>('check')).inProgress
    await eventually(async () => expect(await inProgress()).to.equal(1))

    const { child, ended } = startCli(['client', 'remove', client.id, '--files'], own.env)
    const state = async () => (await own.lines('client', 'list'))[2]
    await eventually(async () => expect(await state()).to.match(/removing$/))
    child.kill('SIGINT')
    expect(await ended).to.deep.include({ code: 130, stdout: '' })
    upload.destroy()
    await eventually(async () => expect(await inProgress()).to.equal(0))
    expect(await state(), 'the removal does not continue').to.match(/removing$/)
    expect((await own.sluice('client', 'remove', client.id)).code).to.equal(0)
    expect(await state()).to.equal(undefined)
  })

  itLong(
    'exits, and names the file, when it opens the data folder itself and cannot read a client',
    async () => {
      await own.end(await own.start())
      const name = join('.sluice', 'clients', 'broken.json')
      await writeFile(join(own.dataDir, 'bucket', 'first', name), 'broken')
      const { child, ended } = startCli(['check'], own.env)
      const late = setTimeout(() => child.kill('SIGKILL'), 40_000)
      const { code, stderr } = await ended
      clearTimeout(late)
      expect({ code, stderr }).to.have.property('code', 1)
      expect(stderr).to.include(name)
    },
  )

  it('exits without an error when the reader closes the pipe', async () => {
    await own.start()
    const { child, ended } = startCli(['client', 'list'], own.env)
    child.stdout?.destroy()
    expect(await ended).to.include({ code: 1, stderr: '' })
  })

  itLong('is an npm script, and the command of the package', async () => {
    await own.start()
    const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'sluice', '--', 'client', 'list'], {
      cwd: PROJECT,
      env: { PATH: process.env.PATH, ...own.env },
    })
    expect(stdout).to.match(/^first +pub_/m)
    const { bin } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8'))
    expect(bin).to.deep.equal({ sluice: 'scripts/sluice.sh' })
  })
})
