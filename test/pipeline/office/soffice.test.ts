import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { convertToPdf, findSoffice, socketOf } from '../../../src/engines/office/soffice.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { PROJECT } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)

describe('LibreOffice', () => {
  it('leaves no socket behind when it crashes', async function () {
    this.timeout(60_000)
    const env = { PATH: process.env.PATH ?? '' }
    const folder = await temporaryFolder()
    await copyFile(join(PROJECT, 'test/corpus/files/libreoffice.pptx'), join(folder, 'a.pptx'))
    const running = { env, timeoutMs: 30_000, signal: new AbortController().signal }
    const program = (await findSoffice(env)) ?? ''
    const conversion = rejection(convertToPdf(program, { folder, file: 'a.pptx', running }))
    const socket = socketOf(String(pathToFileURL(join(folder, 'profile'))))
    await eventually(async () => {
      expect(existsSync(socket)).to.equal(true)
      await run('pkill', ['-KILL', '-f', `${folder}/profile`])
    })
    await conversion
    expect(existsSync(socket)).to.equal(false)
  })
})
