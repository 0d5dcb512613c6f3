import { expect } from 'chai'
import { type ExportEntry, exportEntry } from '../../../src/core/imports/export-entry.ts'

const entry = (more: Partial<ExportEntry> & Pick<ExportEntry, 'url'>): ExportEntry => ({
  folder: '',
  name: '',
  annotations: { tags: [], metadata: {} },
  ...more,
})
const url = 'https://files.example/a.jpg'

describe('an entry of an export', () => {
  const cases: [title: string, received: object, expected: ExportEntry][] = [
    ['a URL alone', { url }, entry({ url })],
    [
      'the general form',
      {
        url,
        folder: '/a/b/',
        name: 'x.jpg',
        tags: ['red'],
        metadata: { 'alt text': 'A chair', width: 3, no: null },
      },
      entry({
        url,
        folder: 'a/b',
        name: 'x.jpg',
        annotations: { tags: ['red'], metadata: { alt_text: 'A chair', width: '3' } },
      }),
    ],
    [
      'cells of CSV',
      { url, tags: 'red; blue,red', metadata: '{"alt":"A"}' },
      entry({ url, annotations: { tags: ['red', 'blue'], metadata: { alt: 'A' } } }),
    ],
    [
      'Cloudinary, with its folder in the public ID',
      {
        secure_url: url,
        public_id: 'shop/chairs/oak',
        format: 'jpg',
        resource_type: 'image',
        tags: ['wood'],
        context: { custom: { alt: 'Oak' } },
      },
      entry({
        url,
        folder: 'shop/chairs',
        name: 'oak.jpg',
        annotations: { tags: ['wood'], metadata: { alt: 'Oak' } },
      }),
    ],
    [
      'Cloudinary, with dynamic folders',
      { secure_url: url, public_id: 'x1', format: 'jpg', asset_folder: 'shop', display_name: 'Oak.JPG' },
      entry({ url, folder: 'shop', name: 'Oak.JPG' }),
    ],
    [
      'Uploadcare',
      {
        uuid: '1',
        url: 'https://api.example/files/1/',
        original_file_url: url,
        original_filename: 'b.jpg',
        metadata: { kind: 'x' },
      },
      entry({ url, name: 'b.jpg', annotations: { tags: [], metadata: { kind: 'x' } } }),
    ],
  ]
  for (const [title, received, expected] of cases)
    it(`is read: ${title}`, () => expect(exportEntry(received)).to.deep.equal(expected))

  const wrong: [title: string, received: unknown, part: string][] = [
    ['without a URL', { name: 'a' }, 'url'],
    ['that is a text', 'https://files.example/a.jpg', 'url'],
    ['with a tag that is too long', { url, tags: ['x'.repeat(101)] }, 'tags[0]'],
    ['with metadata that is no JSON', { url, metadata: 'alt=A' }, 'metadata'],
    ['of a file that Uploadcare has not stored', { original_file_url: null }, 'original_file_url'],
  ]
  for (const [title, received, part] of wrong)
    it(`is refused ${title}`, () => {
      expect(() => exportEntry(received)).to.throw(part)
    })
})
