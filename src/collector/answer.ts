import type { ServerResponse } from 'node:http'

/** Pages of any site send their events here, so everything may be read from anywhere. */
const everywhere = ['Access-Control-Allow-Origin', '*', 'X-Content-Type-Options', 'nosniff']
const json = [...everywhere, 'Content-Type', 'application/json; charset=utf-8', 'Content-Length']

/** `more`: names and values in turn. Written in one go: setting headers one by one costs twice as much. */
export function answerJson(response: ServerResponse, status: number, body: string, more: readonly string[] = []): void {
  response.writeHead(status, [...json, `${Buffer.byteLength(body)}`, ...more]).end(body)
}

export function answerEmpty(response: ServerResponse, status: number, more: readonly string[] = []): void {
  response.writeHead(status, [...everywhere, ...more]).end()
}
