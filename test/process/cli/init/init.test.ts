import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect } from 'chai'
import { loadConfig } from '../../../../config/load.ts'
import { appName } from '../../../../src/process/cli/init/files.ts'
import { kindOf, PLATFORM_NAMES } from '../../../../src/process/cli/init/platforms.ts'
import type { Given } from '../../../../src/process/cli/init/questions.ts'
import { runInit } from '../../../../src/process/cli/init/run-init.ts'
import { writeFolder } from '../../../../src/process/cli/init/write-folder.ts'
import { ownPackage } from '../../../../src/process/cli/own-package.ts'
import { sluice } from '../../../support/programs/sluice.ts'
import { rejection } from '../../../support/rejection.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const OWN = { ...ownPackage(), isPublished: true }
const PERMISSIONS = 0o777

describe('sluice init', () => {
  let parent: string
  beforeEach(async () => {
    parent = await temporaryFolder()
  })
  afterEach(() => rm(parent, { recursive: true, force: true }))

  /** Runs the command without a terminal, as a package that npm can install. */
  const run = async (given: Given) => {
    let stdout = ''
    let stderr = ''
    const started: string[] = []
    const code = await runInit(given, {
      write(text) {
        stdout += text
      },
      writeError(text) {
        stderr += text
      },
      startServer: async (folder) => void started.push(folder),
      own: OWN,
    })
    return { code, stdout, stderr, started }
  }
  const modeOf = async (path: string) => (await stat(path)).mode & PERMISSIONS
  const environmentIn = async (folder: string) => {
    const lines = (await readFile(join(folder, '.env'), 'utf8')).split('\n')
    return Object.fromEntries(
      lines.flatMap((line) => {
        const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? []
        return name === undefined ? [] : [[name, value ?? '']]
      }),
    )
  }

  for (const platform of PLATFORM_NAMES)
    it(`writes secrets for ${platform} that only the owner can read, and never prints them`, async () => {
      const folder = join(parent, 'files')
      const { code, stdout, stderr } = await run({ folder, platform })
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
      expect(await modeOf(join(folder, '.env'))).to.equal(0o600)
      expect(await modeOf(join(folder, 'README.md'))).to.equal(0o644)
      const { CLIENT_TOKEN = '', SECRET_CLIENT_TOKEN, APP_SECRET } = await environmentIn(folder)
      expect(CLIENT_TOKEN).to.match(/^pub_\w{20,}$/)
      for (const secret of [SECRET_CLIENT_TOKEN, APP_SECRET].filter((value) => value !== undefined)) {
        expect(secret).to.match(/^(sec_)?\w{40,}$/)
        expect(stdout).not.to.include(secret)
        for (const path of await readdir(folder)) {
          if (path === '.env' || path === 'chart') continue
          expect(await readFile(join(folder, path), 'utf8'), path).not.to.include(secret)
        }
      }
      expect((await readFile(join(folder, '.gitignore'), 'utf8')).split('\n')).to.include('.env')
      if (kindOf(platform).hasImage)
        expect(await readFile(join(folder, '.dockerignore'), 'utf8'))
          .to.match(/^\*\n/)
          .and.not.include('.env')
      const readme = await readFile(join(folder, 'README.md'), 'utf8')
      for (const title of ['Start', 'Upload a file', 'Upgrade', 'Back up'])
        expect(readme).to.include(`\n## ${title}\n`)
      expect(readme).not.to.match(/\{\{|\}\}/)
    })

  it('has other secrets in each folder', async () => {
    const secrets = []
    for (const name of ['a', 'b']) {
      await run({ folder: join(parent, name), platform: 'node' })
      const { APP_SECRET, CLIENT_TOKEN, SECRET_CLIENT_TOKEN } = await environmentIn(join(parent, name))
      secrets.push(APP_SECRET, CLIENT_TOKEN, SECRET_CLIENT_TOKEN)
    }
    expect(new Set(secrets).size).to.equal(6)
  })

  it('writes settings that the service accepts, and a shell, whatever is in the comments', async () => {
    const folder = join(parent, 'files')
    await run({ folder, platform: 'node', domain: 'files.example.com' })
    const environment = await environmentIn(folder)
    expect(loadConfig(environment)).to.include({
      BASE_URL: 'https://files.example.com',
      DATA_DIR: './data',
      CLIENT_TOKEN: environment.CLIENT_TOKEN,
    })
    const shell = execFileSync('sh', ['-euc', 'set -a; . ./.env; exec env'], { cwd: folder, env: {} })
    for (const pair of Object.entries(environment)) expect(`\n${shell}`).to.include(`\n${pair.join('=')}\n`)
  })

  it('leaves values that only the operator knows, which the service refuses, and names them', async () => {
    const folder = join(parent, 'files')
    const { stdout } = await run({ folder, platform: 'node', storage: 's3' })
    expect(stdout).to.include(
      'Replace FILL_IN in .env: S3_BUCKET, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY',
    )
    const environment = await environmentIn(folder)
    expect(() => loadConfig(environment)).to.throw(/S3_BUCKET.*"FILL_IN"/)
  })

  it('starts the server in the folder, with --start', async () => {
    const folder = join(parent, 'files')
    expect(await run({ folder, platform: 'node', start: true }))
      .to.include({ code: 0 })
      .and.deep.include({ started: [folder] })
  })

  it('refuses impossible choices as wrong usage, and writes nothing', async () => {
    const folder = join(parent, 'files')
    for (const [given, message] of [
      [{ platform: 'heroku', storage: 'disk' }, /--storage disk is impossible with heroku.*Use --storage s3/],
      [{ platform: 'fly', start: true }, /--start is impossible with fly/],
      [
        { platform: 'node', storage: 's3', start: true },
        /--start is impossible.*possible with --storage disk/,
      ],
    ] as const) {
      const { code, stderr } = await run({ folder, ...given })
      expect(code).to.equal(2)
      expect(stderr).to.match(message)
    }
    expect(await run({ folder: '' })).to.include({ code: 2 })
    expect(await readdir(parent)).to.deep.equal([])
  })

  it('refuses a folder with a file, a file, and a symbolic link, and changes none of them', async () => {
    const [full, file, link, empty] = ['full', 'file', 'link', 'empty'].map((name) => join(parent, name)) as [
      string,
      string,
      string,
      string,
    ]
    await mkdir(full)
    await writeFile(join(full, '.env'), 'mine')
    await writeFile(file, 'mine')
    await mkdir(empty)
    await symlink(empty, link)
    for (const [folder, message] of [
      [full, /full is not empty: it has "\.env"\. Choose a new or an empty folder/],
      [file, /file is a file\. Choose/],
      [link, /link is a symbolic link\. Choose/],
      [join(file, 'below'), /ENOTDIR/],
    ] as const) {
      const { code, stderr } = await run({ folder, platform: 'node' })
      expect(code, folder).to.equal(1)
      expect(stderr).to.match(message)
    }
    expect(await readFile(join(full, '.env'), 'utf8')).to.equal('mine')
    expect(await readdir(full)).to.deep.equal(['.env'])
    expect(await readdir(empty)).to.deep.equal([])
    expect((await run({ folder: empty, platform: 'node' })).code).to.equal(0)
  })

  it('writes into folders with hostile names, and prints commands that enter exactly them', async () => {
    for (const name of ['-rf', "it's $(touch x) `y`", 'Größe & "Q"', '…', 'a'.repeat(200)]) {
      const folder = join(parent, name)
      const { code, stdout, stderr } = await run({ folder, platform: 'compose' })
      expect({ code, stderr }, name).to.deep.equal({ code: 0, stderr: '' })
      const [, enter = ''] = /^ {2}(cd .*)$/m.exec(stdout) ?? []
      const entered = execFileSync('sh', ['-euc', `${enter}; pwd`], { encoding: 'utf8' }).trimEnd()
      expect(basename(entered)).to.equal(name)
      expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')).name).to.equal(appName(name))
    }
    const lineFeed = await run({ folder: join(parent, 'a\nb\u001b[31m'), platform: 'node' })
    expect(lineFeed.stdout).not.to.include('\u001b')
    expect((await run({ folder: join(parent, 'a\0b') })).code).to.equal(1)
    expect((await readdir(parent)).length).to.equal(6)
  })

  it('removes what it has written when a file cannot be written', async () => {
    const [fresh, empty] = [join(parent, 'fresh'), join(parent, 'empty')]
    await mkdir(empty)
    const files = new Map([
      ['.env', 'A=1'],
      ['chart/values.yaml', 'a: 1'],
    ])
    for (const folder of [fresh, empty]) {
      const failed = writeFolder(folder, { files, packageRoot: join(parent, 'no package') })
      expect(await rejection(failed)).to.have.property('code', 'ENOENT')
    }
    expect(await readdir(parent, { recursive: true })).to.deep.equal(['empty'])
  })

  it('has names for apps of any folder name', () => {
    expect(['My files', '-rf', '…', '_Größe_', 'a'.repeat(40), '2026'].map(appName)).to.deep.equal([
      'my-files',
      'rf',
      'sluice',
      'gr-e',
      'a'.repeat(30),
      '2026',
    ])
  })

  it('is wrong usage with an unknown platform, or a domain that is a URL', async () => {
    for (const args of [
      ['--platform', 'windows'],
      ['--domain', 'https://files.example.com'],
      ['--domain', "a.example'; rm -rf /"],
    ]) {
      const { code, stderr } = await sluice(['init', join(parent, 'x'), ...args], {})
      expect(code).to.equal(2)
      expect(stderr).to.match(/^error: option '--(platform|domain) <\w+>' argument/)
    }
    expect(await readdir(parent)).to.deep.equal([])
  })
})
