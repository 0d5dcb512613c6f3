'use client'

export { default } from 'sluice/next'
