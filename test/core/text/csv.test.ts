import { expect } from 'chai'
import { csvRow, csvRows } from '../../../src/core/text/csv.ts'
import { rejection } from '../../support/rejection.ts'

async function rowsOf(text: string, chunkLength = text.length): Promise<string[][]> {
  async function* chunks() {
    for (let at = 0; at < text.length; at += chunkLength) yield text.slice(at, at + chunkLength)
  }
  const rows: string[][] = []
  for await (const row of csvRows(chunks())) rows.push(row)
  return rows
}

describe('comma separated values', () => {
  const cases: [text: string, rows: string[][]][] = [
    [
      'a,b\nc,d\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'a,b\r\nc,',
      [
        ['a', 'b'],
        ['c', ''],
      ],
    ],
    ['\n\na\n\n', [['a']]],
    ['"a,b","c\nd"\r\n', [['a,b', 'c\nd']]],
    ['"a ""b""",""\n', [['a "b"', '']]],
    ['""""\n', [['"']]],
    ['"",x\n', [['', 'x']]],
    [',\n', [['', '']]],
    ['', []],
  ]
  for (const [text, rows] of cases)
    it(`are parsed: ${JSON.stringify(text)}`, async () => {
      expect(await rowsOf(text)).to.deep.equal(rows)
      expect(await rowsOf(text, 1), 'in chunks of one character').to.deep.equal(rows)
    })

  it('are written so that they are read again', async () => {
    const cells = ['plain', 'a,b', 'a "b"', 'c\nd', '']
    expect(await rowsOf(csvRow(cells))).to.deep.equal([cells])
  })

  it('are refused with a quote that is not closed, and with a row that is too long', async () => {
    const unclosed = (await rejection(rowsOf('a\n"b\nc'))) as Error
    expect(unclosed.message).to.include('no closing quote')
    const long = (await rejection(rowsOf(`"${'x'.repeat(1024 * 1024)}`))) as Error
    expect(long.message).to.include('1048576')
  })
})
