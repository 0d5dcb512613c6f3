import { expect } from 'chai'
import { z } from 'zod'
import {
  checkedSettings,
  GIVEN_SETTINGS,
  SETTING_NAMES,
  SETTING_OPTIONS,
  STORED_SETTINGS,
  type StorageSettings,
} from '../../../src/core/clients/storage-settings.ts'

const REQUIRED = { bucket: 'files', accessKeyId: 'AKIA1', secretAccessKey: 'k3y' }
const ALL: StorageSettings = {
  ...REQUIRED,
  endpoint: 'http://127.0.0.1:9000/',
  region: 'eu-west-1',
  prefix: '/a//b',
  forcePathStyle: true,
  publicUrl: 'https://cdn.example/files/',
}

describe('the settings of a client’s bucket', () => {
  it('are normalized', () => {
    expect(checkedSettings(ALL)).to.deep.equal({
      ...ALL,
      endpoint: 'http://127.0.0.1:9000',
      prefix: 'a/b/',
      publicUrl: 'https://cdn.example/files',
    })
  })

  it('have defaults', () => {
    expect(checkedSettings(REQUIRED)).to.deep.equal({
      ...REQUIRED,
      endpoint: 'https://s3.us-east-1.amazonaws.com',
      region: 'us-east-1',
      prefix: '',
      forcePathStyle: false,
    })
    expect(checkedSettings({ ...REQUIRED, region: 'cn-north-1' }).endpoint).to.equal(
      'https://s3.cn-north-1.amazonaws.com.cn',
    )
  })

  for (const [wrong, message] of [
    [{ bucket: 'A' }, 'expected a bucket\'s name for bucket but received "A"'],
    [{ region: 'x y' }, 'expected a region for region but received "x y"'],
    [{ prefix: '../a' }, /^expected at most 200 characters: folders .* for prefix but received "\.\.\/a"$/],
    [{ accessKeyId: '' }, 'expected an access key for accessKeyId but received ""'],
    [{ secretAccessKey: 'a b' }, /for secretAccessKey but received "3 characters"$/],
    [
      { endpoint: 'http://127.0.0.1/x' },
      /^expected an http or https URL of scheme, host and port for endpoint/,
    ],
    [{ publicUrl: 'https://a.example/?x' }, /^expected an http or https URL without query for publicUrl/],
  ] as const)
    it(`are refused with ${JSON.stringify(wrong)}`, () => {
      expect(() => checkedSettings({ ...REQUIRED, ...wrong })).to.throw(message)
    })

  it('are all in requests, all but the secret in options, and all but the secret in records', () => {
    const { secretAccessKey, ...stored } = checkedSettings(ALL)
    expect(z.strictObject(GIVEN_SETTINGS).parse(ALL)).to.deep.equal(ALL)
    expect(z.strictObject(STORED_SETTINGS).parse(stored)).to.deep.equal(stored)
    const named = SETTING_NAMES.filter((name) => name !== 'secretAccessKey')
    expect(SETTING_OPTIONS.map(({ name }) => name)).to.deep.equal(named)
  })
})
