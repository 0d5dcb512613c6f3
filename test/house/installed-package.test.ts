import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'

// npm leaves package-lock.json, and the compiler with the development packages, out of a package.
describe('npm start in an installed package', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-package-'))
    const filter = (path: string) => !path.endsWith('node_modules')
    for (const path of ['scripts', 'package.json'])
      cpSync(path, join(folder, path), { recursive: true, filter })
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const start = () => {
    const { status, stdout, stderr } = spawnSync('node', ['scripts/start.js', '--help'], {
      cwd: folder,
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }

  it('starts the server when the package is built', () => {
    mkdirSync(join(folder, 'dist/src'), { recursive: true })
    writeFileSync(join(folder, 'dist/src/main.js'), `console.log('arguments', ...process.argv.slice(2))`)
    expect(start()).to.deep.equal({ status: 0, stdout: 'arguments --help\n', stderr: '' })
  })

  it('tells the operator what to do when it is not', () => {
    const { status, stderr } = start()
    expect(status).to.equal(1)
    expect(stderr).to.include('This package is not built').and.not.include('ENOENT')
  })
})
