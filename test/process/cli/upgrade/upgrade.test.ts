import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { FORMER_LAYOUTS, INDEX_LAYOUT } from '../../../../src/core/storage/index-layout.ts'
import { filesOf } from '../../../../src/process/cli/init/files.ts'
import { type OwnPackage, ownPackage } from '../../../../src/process/cli/own-package.ts'
import { compareVersions, releasesOf } from '../../../../src/process/cli/upgrade/changelog.ts'
import { layoutOf, upgradeReport } from '../../../../src/process/cli/upgrade/upgrade.ts'
import { upgradeText } from '../../../../src/process/cli/upgrade/upgrade-text.ts'
import { sluice } from '../../../support/programs/sluice.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const CHANGELOG = `# Changelog

Text.

## 1.2.0 - 2027-02-01

### Added

- New in 1.2.

### Changed

- Stop all processes
  [first](docs/how-to/upgrade.md#first).
  - A detail
    of it.

## v1.1.0

**Before the upgrade:** [mount it](docs/how-to/upgrade.md#mount).

### Fixed

- Fixed in \`1.1\`.

## 1.0.0 - 2026-11-29

The first release.

### Added

- All.
`

describe('sluice upgrade', () => {
  let own: OwnPackage
  beforeEach(async () => {
    own = { ...ownPackage(), root: await temporaryFolder(), version: '1.2.0', isPublished: true }
    await writeFile(join(own.root, 'CHANGELOG.md'), CHANGELOG)
  })
  afterEach(() => rm(own.root, { recursive: true, force: true }))

  const report = (from: string) => upgradeReport(own.root, { own, from })

  it('has all changes after a version by their kind, first those that link to the upgrade guide', () => {
    expect(report('1.0.0')).to.deep.include({
      from: '1.0.0',
      to: '1.2.0',
      steps: [
        '**Before the upgrade:** [mount it](docs/how-to/upgrade.md#mount).',
        'Stop all processes [first](docs/how-to/upgrade.md#first).\n- A detail of it.',
      ],
      changes: [
        { title: 'Fixed', changes: ['Fixed in `1.1`.'] },
        { title: 'Added', changes: ['New in 1.2.'] },
      ],
    })
    expect(report('1.1.0').steps).to.have.length(1)
    expect(report('0.9.0').changes[0]).to.deep.equal({ title: 'Notes', changes: ['The first release.'] })
    expect(report('1.2.0')).to.deep.include({ steps: [], changes: [] })
  })

  it('prints a text without marks of Markdown, with the sections of the guide', () => {
    const text = upgradeText(report('1.0.0'), '/guide.md')
    expect(text).to.include('\n  - Before the upgrade: mount it (upgrade.md#mount).\n')
    expect(text).to.include('\n  - Stop all processes first (upgrade.md#first).\n    - A detail of it.\n')
    expect(text).to.include('the index gets the layout').and.include('/guide.md')
    expect(upgradeText(report('1.2.0'), '/guide.md')).to.equal('1.2.0 is up to date: nothing has changed.\n')
  })

  it('has the changes that no version has yet, unless the folder was written with them', async () => {
    await writeFile(
      join(own.root, 'CHANGELOG.md'),
      CHANGELOG.replace('## 1.2.0', '## Unreleased\n\n### Added\n\n- Next.\n\n## 1.2.0'),
    )
    expect(report('1.2.0')).to.deep.include({
      to: '1.2.0+unreleased',
      changes: [{ title: 'Added', changes: ['Next.'] }],
    })
    expect(report('1.2.0+unreleased')).to.deep.include({ changes: [] })
  })

  it('finds version and commands in a folder of sluice init, also after the version was changed there', async () => {
    const project = ownPackage()
    const folder = join(own.root, 'files')
    await mkdir(folder)
    const choices = { platform: 'compose', storage: 'disk', domain: undefined } as const
    const { files } = filesOf(choices, {
      own: { ...project, version: '1.1.0', isPublished: true },
      app: 'files',
    })
    for (const name of ['package.json', 'README.md'])
      await writeFile(join(folder, name), files.get(name) ?? '')
    const { from, steps, commands } = upgradeReport(folder, { own })
    expect({ from, steps: steps.length }).to.deep.equal({ from: '1.1.0+unreleased', steps: 1 })
    expect(commands.split('\n')[0]).to.equal('npm pkg set dependencies.sluice=1.2.0')
    expect(commands).to.include('docker compose up -d').and.not.include('sluice backup')
    for (const [dependency, found] of [
      ['1.2.0', '1.2.0'],
      ['^1.1.5', '1.1.5'],
      ['file:sluice-1.0.0.tgz', '1.0.0'],
    ] as const) {
      const text = files.get('package.json')?.replace('"sluice": "1.1.0"', `"sluice": "${dependency}"`) ?? ''
      await writeFile(join(folder, 'package.json'), text)
      expect(upgradeReport(folder, { own }).from).to.equal(found)
    }
  })

  it('names the package that it needs in a container image, which has no changelog', async () => {
    await rm(join(own.root, 'CHANGELOG.md'))
    expect(() => report('1.0.0')).to.throw(/CHANGELOG\.md is missing\. Run the command of the npm package/)
  })

  it('refuses a folder without a version, and a version that is later than its own', () => {
    expect(() => upgradeReport(own.root, { own })).to.throw('Set it with --from, such as --from 1.0.0')
    expect(() => report('1.3.0')).to.throw(
      /This is Sluice 1\.2\.0, which is earlier than 1\.3\.0\. "Go back" in/,
    )
  })

  it('compares versions by their numbers', () => {
    const sorted = ['1.0.0-beta', '1.0.0-rc.2', '1.0.0-rc.10', '1.0.0', '1.0.2', '1.0.10', '1.2.0', '10.0.0']
    expect([...sorted].reverse().sort(compareVersions)).to.deep.equal(sorted)
    expect(compareVersions('1.0', '1.0.0')).to.equal(0)
  })

  it('has the layout of the index of each version, and a section for the way back', async () => {
    expect(layoutOf('1.0.0')).to.equal(1)
    expect(['1.0.0+unreleased', '99.0.0'].map(layoutOf)).to.deep.equal([INDEX_LAYOUT, INDEX_LAYOUT])
    expect(FORMER_LAYOUTS.map(({ layout }) => layout)).to.deep.equal(
      Array.from({ length: INDEX_LAYOUT - 1 }, (_, i) => i + 1),
    )
    expect(await readFile('docs/how-to/upgrade.md', 'utf8')).to.match(/^## Go back$/m)
  })

  it('has exit codes for scripts: 3 when a step is needed, 0 without one, 1 when it is unknown', async () => {
    const check = (...args: string[]) => sluice(['upgrade', own.root, '--check', ...args], {})
    expect(await check('--from', '0.9.0')).to.include({ code: 3, stderr: '' })
    expect(await check('--from', `${ownPackage().version}+unreleased`)).to.include({ code: 0, stderr: '' })
    expect(await check()).to.include({ code: 1, stdout: '' })
    expect(await check('--from', 'latest')).to.include({ code: 2, stdout: '' })
    const { stdout } = await sluice(['upgrade', '--from', '0.9.0', '--json'], {})
    expect(JSON.parse(stdout)).to.have.all.keys('from', 'to', 'steps', 'changes', 'indexLayout', 'commands')
  })
})

describe('the changelog', () => {
  it('has sections with a version, and kinds with changes', async () => {
    const releases = releasesOf(await readFile('CHANGELOG.md', 'utf8'))
    expect(releases.filter(({ version }) => version === undefined)).to.have.length.below(2)
    const all = releases.flatMap(({ groups }) => groups.flatMap(({ changes }) => changes))
    expect(all.length).to.be.above(150)
    for (const { version, groups } of releases)
      for (const { title, changes } of groups) {
        expect(title, version).to.match(/^[A-Z][a-z]+$/)
        expect(changes, `${version} ${title}`).to.have.length.above(0)
      }
  })
})
