import { expect } from 'chai'
import { aliasTag, clientTag, folderTag, tagsOf, tagsOfAlias } from '../../../src/core/caching/cache-tags.ts'

const ID = '7uLqaNcfyNPLQRQwzFpEzc'

describe('cache tags', () => {
  it('are those of the file, of each folder above it, and of the client', () => {
    const client = clientTag('first').slice(2)
    expect(tagsOf('first', `photos/2024/image/png/${ID}.png`)).to.deep.equal([
      `f-${ID}`,
      `d-${client}-photos`,
      `d-${client}-photos/2024`,
      `c-${client}`,
    ])
  })

  it('are the same for derivatives and for parts of a bundle', () => {
    const key = `a/video/mp4/${ID}.mp4`
    for (const derived of [`${key}_w=300`, `${key}_hls/master.m3u8`, `${key}_hls/0123abcd-v0-00001.m4s`])
      expect(tagsOf('first', derived), derived).to.deep.equal(tagsOf('first', key))
  })

  it('do not contain the id of the client, and differ between clients', () => {
    const id = 'Jq1dNx7Tz2b'
    const tags = tagsOf(id, `a/image/png/${ID}.png`)
    expect(tags.join()).to.not.contain(id)
    expect(tagsOf('first', `a/image/png/${ID}.png`).filter((tag) => tags.includes(tag))).to.deep.equal([
      `f-${ID}`,
    ])
  })

  for (const folder of ['a b,c', 'Ünï/日本', "it's (1)!*", 'x'.repeat(200), '日'.repeat(66), 'a"\\b'])
    it(`have safe characters and a bounded length for ${folder.slice(0, 12)}`, () => {
      expect(folderTag('first', folder))
        .to.match(/^[\w\-.~/%]+$/)
        .and.have.length.at.most(100)
    })

  it('of aliases differ by client, name and case, and contain neither', () => {
    const tags = [aliasTag('first', 'a/b'), aliasTag('first', 'a/B'), aliasTag('x', 'a/b')]
    expect(new Set(tags).size).to.equal(3)
    for (const tag of tags) expect(tag).to.match(/^a-[0-9a-f]{20}$/)
  })

  it('of a response by the name of an alias include the folders of the name', () => {
    const tags = [aliasTag('first', 'A/b/c.png'), folderTag('first', 'a'), folderTag('first', 'a/b')]
    expect(tagsOfAlias('first', 'A/b/c.png')).to.deep.equal(tags)
  })

  it('of different folders differ, also when they are long', () => {
    const folders = ['a', 'b', 'a%20b', 'a b', `${'x'.repeat(190)}1`, `${'x'.repeat(190)}2`]
    expect(new Set(folders.map((folder) => folderTag('first', folder))).size).to.equal(folders.length)
  })

  it('of folders that differ only in case are the same, since rules of folders ignore it', () => {
    expect(folderTag('first', 'A/É b')).to.equal(folderTag('first', 'a/é B'))
  })
})
