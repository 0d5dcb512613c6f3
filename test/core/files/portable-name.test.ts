import { expect } from 'chai'
import { portableName } from '../../../src/core/files/portable-name.ts'
import { shown } from '../shown.ts'

describe('a portable name', () => {
  for (const [name, portable] of [
    ['photo.png', 'photo.png'],
    ['写真/größe 🙂.png', '写真/größe 🙂.png'],
    ['.env', '.env'],
    ['conference.txt', 'conference.txt'],
    ['com10', 'com10'],
    ['a.con', 'a.con'],
    ['Con', 'Con_'],
    ['nul.txt', 'nul_.txt'],
    ['aux/prn', 'aux_/prn_'],
    ['COM9 .x', 'COM9_ .x'],
    ['lpt¹', 'lpt¹_'],
    ['CONOUT$', 'CONOUT$_'],
    ['con ', 'con_'],
    ['nul.', 'nul_'],
    ['a.', 'a_'],
    ['a ', 'a_'],
    ['a/b. /c', 'a/b._/c'],
    ['...', '.._'],
    ['C:', 'C_'],
    ['a:b|c', 'a_b_c'],
    ['<1>?*"', '_1____'],
    ['a\0b\nc\x85d\u2028', 'a_b_c_d_'],
    ['a\u202egnp.exe', 'a_gnp.exe'],
    [`nul.${'x'.repeat(251)}`, `nul_.${'x'.repeat(250)}`],
  ] as const) {
    it(`of ${shown(name)} is ${shown(portable)}`, () => {
      expect(portableName(name)).to.equal(portable)
      expect(portableName(portable)).to.equal(portable)
    })
  }
})
