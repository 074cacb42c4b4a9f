// A bot for lines of dominoes in plain JavaScript: it plays its heaviest tile, a double before others.
//
// It speaks `dombot-line/1`, the bot protocol, on its standard streams:
//
//   dominozoo arena block --players "stdio:node examples/stdio_bot.js,normal" --deals 100 --seed 1
'use strict';

const readline = require('node:readline');

const ME = { id: 'heaviest-js', version: '1', licence: 'Apache-2.0' };

function weight(move) {
  if (move.tile === null) return -1;
  const [high, low] = move.tile.split('-').map(Number);
  return high + low + (high === low ? 100 : 0);
}

function act(request) {
  const legal = request.view.legal;
  if (!Array.isArray(legal) || legal.length === 0) {
    return { op: 'error', code: 'bad_view', field: 'view.legal', message: 'this bot needs legal' };
  }
  const move = legal.reduce((best, next) => (weight(next) > weight(best) ? next : best));
  const words = [move.action, move.tile, move.end].filter((word) => word !== null);
  return {
    op: 'act', bot: ME.id, version: ME.version, action: move.id, text: words.join(' '),
    tile: move.tile, end: move.end, forced: legal.length === 1, fallback: false,
    value: null, probabilities: null,
  };
}

function answer(request) {
  switch (request.op) {
    case 'hello':
      return { op: 'hello', protocol: 'dombot-line/1', server: 'stdio_bot.js', limits: {}, bots: [ME] };
    case 'can':
      return { op: 'can', yes: request.game !== 'truc_v0', exact: true, bots: [ME.id], reason: null };
    case 'ask':
      return act(request);
    case 'legal':
      return { op: 'legal', legal: request.view.legal };
    case 'quit':
      return { op: 'bye' };
    default:
      return { op: 'error', code: 'unknown_op', field: 'op', message: 'unknown' };
  }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let request;
  try {
    request = JSON.parse(line);
  } catch (error) {
    console.log(JSON.stringify({ op: 'error', id: null, code: 'bad_json', message: error.message }));
    return;
  }
  const id = request && request.id !== undefined ? request.id : null;
  let found;
  try {
    found = answer(request);
  } catch (error) {
    found = { op: 'error', code: 'bad_request', message: error.message };
  }
  console.log(JSON.stringify({ id, ...found }));
  if (found.op === 'bye') process.exit(0);
});
