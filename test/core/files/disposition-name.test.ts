import { expect } from 'chai'
import fc from 'fast-check'
import { dispositionName } from '../../../src/core/files/disposition-name.ts'
import { cleanFileName } from '../../../src/core/files/file-name.ts'
import { headerText } from '../../../src/core/text/header-text.ts'
import { attachment } from '../../../src/http/delivery/content-disposition.ts'
import { holds } from '../../contracts/property.ts'

/** The same text as Node reads it when it was sent in UTF-8. */
const inUtf8 = (header: string) => Buffer.from(header).toString('latin1')

describe('the file name of a Content-Disposition header', () => {
  const cases: Array<[what: string, header: string, name: string]> = [
    ['a quoted name', 'attachment; filename="a b.txt"', 'a b.txt'],
    ['a token', 'inline; filename=a.txt', 'a.txt'],
    ['RFC 8187', "attachment; filename=x.txt; filename*=UTF-8''%C3%BCber.txt", 'über.txt'],
    ['RFC 8187 in Latin-1', "attachment; filename*=ISO-8859-1''%FCber.txt", 'über.txt'],
    ['UTF-8', inUtf8('attachment; filename="Größe 写.txt"'), 'Größe 写.txt'],
    ['UTF-8 without quotes', inUtf8('attachment; filename=Größe写.txt'), 'Größe写.txt'],
    ['UTF-8 of letters that end like ASCII', inUtf8('attachment; filename="Łódź.txt"'), 'Łódź.txt'],
    ['Latin-1', 'attachment; filename="Größe.txt"', 'Größe.txt'],
    ['no name', 'attachment', ''],
    ['an empty name', 'attachment; filename=""', ''],
    ['a quote without its end', 'attachment; filename="a.txt', ''],
    ['an empty header', '', ''],
  ]
  for (const [what, header, name] of cases)
    it(`is ${JSON.stringify(name)}: ${what}`, () => {
      expect(dispositionName(headerText(header))).to.equal(name)
    })

  it('is the name of the header that a download has', () =>
    holds(
      fc.property(fc.string({ unit: 'grapheme' }).map(cleanFileName), (name) => {
        fc.pre(name !== '')
        const header = attachment(name)
        expect(header).to.match(/^[\x20-\x7e]+$/)
        expect(dispositionName(headerText(header))).to.equal(name)
      }),
    ))

  it('is empty without a header', () => {
    expect(dispositionName(undefined)).to.equal('')
  })
})
