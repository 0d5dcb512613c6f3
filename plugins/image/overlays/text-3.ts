import { textPlugin } from './text.mts'

/** The third text, over the ones before it. */
export default textPlugin('image-text-3', 'text3')
