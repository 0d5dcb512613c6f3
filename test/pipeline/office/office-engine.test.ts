import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { programEnvironment } from '../../../config/programs.ts'
import { readAll } from '../../../src/core/bytes/asset.ts'
import { createOffice, type Sandbox } from '../../../src/engines/office/office.ts'
import { convertToPdf, findSoffice } from '../../../src/engines/office/soffice.ts'
import { createScratch } from '../../../src/engines/temp/scratch.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { PROJECT } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { assetOf, context, LIMITS } from '../image/transform.ts'

describe('the engine of Office documents', () => {
  let folder: string
  let document: Buffer
  before(async () => {
    folder = await temporaryFolder()
    document = await readFile(join(PROJECT, 'test/corpus/files/libreoffice.docx'))
  })
  afterEach('leaves no file and no process', async () => {
    expect(await readdir(folder)).to.deep.equal([])
    expect(await pidsOf(folder)).to.deep.equal([])
  })
  after(() => rm(folder, { recursive: true, force: true }))

  /** The PDF of the document, or what it is refused with. */
  async function converted(
    how: Parameters<typeof context>[0] = {},
    timeoutMs = 60_000,
    env = programEnvironment(),
    [bytes, format] = [document, 'docx'],
    sandbox: Sandbox = 'required',
  ): Promise<Buffer> {
    const engine = createOffice({ folder, env, timeoutMs, sandbox })
    const leftovers: Array<() => Promise<void>> = []
    const all = context({ ...how, afterwards: (work) => void leftovers.push(work) })
    try {
      const { draft } = await engine.open(assetOf(bytes, format), {}, all)
      return await readAll(await engine.render(draft, all))
    } finally {
      for (const remove of leftovers) await remove()
    }
  }

  it('renders a PDF', async () => {
    let cpuMs = 0
    const spent = (more: number) => {
      cpuMs += more
    }
    const pdf = await converted({ limits: { ...LIMITS, timeoutMs: 60_000 }, spent })
    expect(pdf.toString('latin1', 0, 5)).to.equal('%PDF-')
    expect(cpuMs).to.be.above(50)
  })

  for (const [what, timeoutMs, limits, expected] of [
    ['time', 50, {}, { status: 422, reason: 'too_slow' }],
    ['memory', 60_000, { mediaMaxMemoryBytes: 10_000_000 }, { status: 422, code: 'too_much_memory' }],
    ['input', 60_000, { sourceMaxBytes: 1000 }, { status: 422, code: 'not_transformable' }],
  ] as const) {
    it(`is ended at its limit of ${what}`, async () => {
      const allowed = { ...LIMITS, timeoutMs: 60_000, ...limits }
      const error = await rejection(converted({ limits: allowed }, timeoutMs))
      const { status, code, members } = error as unknown as Record<string, unknown>
      expect({ status, code, ...(members as object) }).to.include(expected)
    })
  }

  describe('without Perl, with which it is confined', () => {
    async function convert(sandbox: Sandbox): Promise<Buffer> {
      const path = await temporaryFolder()
      await symlink((await findSoffice(programEnvironment())) ?? '', join(path, 'soffice'))
      return converted(
        { limits: { ...LIMITS, timeoutMs: 60_000 } },
        60_000,
        { PATH: path },
        undefined,
        sandbox,
      )
    }

    it('is not started', async () => {
      const error = (await rejection(convert('required'))) as Error
      expect(error).to.include({ status: 501, code: 'not_installed' })
      expect(error.message).to.include('DOCUMENT_SANDBOX=optional')
    })

    itLong('is started when its sandbox is optional', async () => {
      expect((await convert('optional')).toString('latin1', 0, 5)).to.equal('%PDF-')
    })
  })

  it('is killed with the files of a service that has died', async () => {
    const dead = join(folder, `${hostname()}-999999999-${randomUUID()}`)
    await mkdir(dead)
    await writeFile(join(dead, 'document.docx'), document)
    const env = programEnvironment()
    const running = { signal: new AbortController().signal, timeoutMs: 60_000, env }
    const program = (await findSoffice(env)) ?? 'none'
    const work = rejection(convertToPdf(program, { folder: dead, file: 'document.docx', running }))
    await eventually(async () => expect(await pidsOf(dead)).to.have.length(1))
    // Else it may be done before it is found, if this process has to wait for the CPU.
    const pids = (await pidsOf(dead)).map(Number)
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    await createScratch(folder).removeStale({ afterMs: 60_000 })
    for (const pid of pids)
      try {
        process.kill(pid, 'SIGCONT')
      } catch {
        // It was killed.
      }
    // 77: it was still being confined, and its folder was gone.
    expect(String(await work)).to.match(/SIGKILL|ended with 77/)
  })

  itLong('is ended by the kernel when its service has died and is not started again', async () => {
    const leaving = new AbortController()
    const work = rejection(converted({ signal: leaving.signal, limits: { ...LIMITS, timeoutMs: 30_000 } }))
    await eventually(async () => {
      const [limits] = await Promise.all((await pidsOf(folder)).map(limitsOf))
      // CPU time of two cores.
      expect(limits).to.match(/^Max cpu time +60 /m)
    })
    leaving.abort(new Error('left'))
    await work
  })

  describe('with a program that behaves like it', () => {
    let programs: string
    before(async () => {
      programs = await temporaryFolder()
    })
    after(() => rm(programs, { recursive: true, force: true }))

    /** Runs these lines of a shell, in the folder of the document, instead of LibreOffice. */
    async function convertedBy(...lines: string[]): Promise<Buffer> {
      return convertedWith(lines)
    }

    async function convertedWith(
      lines: string[],
      of: [bytes: Buffer, format: string] = [document, 'docx'],
      how: Parameters<typeof context>[0] = {},
    ): Promise<Buffer> {
      const script = ['#!/bin/sh', 'for last; do :; done', 'cd "$(dirname "$last")"', ...lines].join('\n')
      await writeFile(join(programs, 'soffice'), script, { mode: 0o755 })
      const { PATH, ...env } = programEnvironment()
      return converted(how, 60_000, { ...env, PATH: `${programs}:${PATH}` }, of)
    }

    it('starts it again when it has set up its profile', async () => {
      const pdf = await convertedBy(
        'if mkdir begun 2>&-; then exit 81; fi',
        'printf %%PDF-1.7 > document.pdf',
      )
      expect(pdf.toString()).to.equal('%PDF-1.7')
    })

    itLong('may return no more than the limit of outputs', async () => {
      const convert = (outputMaxBytes: number) =>
        convertedWith(['printf %%PDF-1.7 > document.pdf'], undefined, {
          limits: { ...LIMITS, outputMaxBytes },
        })
      expect(await convert(8)).to.have.length(8)
      expect(await rejection(convert(7))).to.include({ status: 422, code: 'output_too_large' })
    })

    it('may succeed later when it was killed', async () => {
      const error = await rejection(convertedBy('kill -KILL $$'))
      expect(error).to.include({ exitCode: null, signal: 'SIGKILL' })
    })

    for (const name of ['word-encrypted.doc', 'word-encrypted.docx', 'powerpoint-encrypted.ppt']) {
      it(`is not started for a document with a password: ${name}`, async () => {
        const bytes = await readFile(join(PROJECT, 'test/corpus/files', name))
        const line = 'printf %%PDF-1.7 > document.pdf'
        const error = await rejection(convertedWith([line], [bytes, name.split('.')[1] ?? '']))
        expect(error).to.include({ status: 422, code: 'encrypted_file' })
      })
    }

    it('is asked whether it knows the password of a workbook', async () => {
      const bytes = await readFile(join(PROJECT, 'test/corpus/files/excel-encrypted.xls'))
      const pdf = await convertedWith(['printf %%PDF-1.7 > document.pdf'], [bytes, 'xls'])
      expect(pdf.toString()).to.equal('%PDF-1.7')
      for (const line of ['exit 0', 'exit 1']) {
        const error = await rejection(convertedWith([line], [bytes, 'xls']))
        expect(error).to.include({ status: 422, code: 'encrypted_file' })
      }
    })

    for (const [what, line] of [
      ['crashes', 'kill -SEGV $$'],
      ['fails', 'exit 1'],
      ['writes nothing', 'exit 0'],
    ] as const) {
      it(`refuses a document with which it ${what}`, async () => {
        const error = await rejection(convertedBy(line))
        expect(error).to.include({ status: 422, code: 'not_transformable' })
      })
    }
  })

  it('ends when no caller waits any more', async () => {
    const leaving = new AbortController()
    setTimeout(() => leaving.abort(new Error('left')), 100)
    const error = await rejection(converted({ signal: leaving.signal }))
    expect(String(error)).to.include('left')
  })
})

/** The processes that have the folder among their arguments. */
async function pidsOf(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const all = await Promise.all(
    pids.map(async (pid) => ({ pid, args: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') })),
  )
  return all.filter(({ args }) => args.includes(folder)).map(({ pid }) => pid)
}

function limitsOf(pid: string): Promise<string> {
  return readFile(`/proc/${pid}/limits`, 'utf8')
}
