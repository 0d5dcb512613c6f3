import { readdir, rm } from 'node:fs/promises'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { onOneBackend } from '../../support/backends.ts'
import { download, startPage } from '../../support/peers/browser-pages.ts'
import { uploadOne } from '../../support/requests/client.ts'
import type { Service } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

onOneBackend('Chromium saves a file', (start) => {
  let service: Service
  let tab: Page
  let folder: string
  before(async () => {
    service = await start()
    tab = await startPage()
  })
  after(() => tab.context().close())
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  // It leaves out what Windows forbids, wherever it runs.
  const names: Array<[name: string, saved?: string]> = [
    ['photo\u202etxt.exe', 'phototxt.exe'],
    ['photo.txt'],
    ["it's; a, b=c &d (2).txt"],
    ['my "best" photo.txt', 'my _best_ photo.txt'],
    ['100%25 real.txt'],
    ['Größe café.txt'],
    ['写真 🙂.txt'],
    ['עברית.txt'],
    [`${'é'.repeat(100)}.txt`],
  ]
  for (const [name, saved = name] of everyNth(3, names)) {
    it(`under the name ${saved.slice(0, 30)}`, async () => {
      const { src } = await uploadOne(service, { name, bytes: 'text' })
      expect(await (await download(tab, `${src}?download`, folder)).failure()).to.equal(null)
      expect(await readdir(folder)).to.deep.equal([saved])
    })
  }
})
