import express from 'express'
import { listen } from './listen.js'

// GET /<name> returns a file of the folder argv[2].
listen(express().use(express.static(process.argv[2], { maxAge: '7d' })))
