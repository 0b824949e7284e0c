"use strict";
// The random order of Python's simulation: numpy's default generator, number by number.
//
// SeedSequence makes 256 bits of a seed (O'Neill, Developing a seed_seq Alternative, 2015). PCG64
// steps a 128-bit congruential generator and gives 64 bits of each state by XSL-RR (O'Neill, PCG,
// 2014). A number below n is made of 32 bits by multiplication, without bias (Lemire, Fast Random
// Integer Generation in an Interval, 2019). Of 64 bits the low half is used first.

const BITS_32 = 0xffffffffn, BITS_64 = (1n << 64n) - 1n, BITS_128 = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;

/** Multiplies each word by a constant that changes from word to word, and mixes its halves. */
class Hash {
  constructor(constant, multiplier) {
    this.constant = constant;
    this.multiplier = multiplier;
  }

  of(word) {
    let value = (word ^ this.constant) >>> 0;
    this.constant = Math.imul(this.constant, this.multiplier) >>> 0;
    value = Math.imul(value, this.constant) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  }
}

function mixedWords(x, y) {
  const value = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) >>> 0;
  return (value ^ (value >>> 16)) >>> 0;
}

/** `count` words of 64 bits of a seed, a BigInt of at least 0. */
function wordsOfSeed(seed, count) {
  const entropy = [];
  for (let rest = seed; rest > 0n; rest >>= 32n) entropy.push(Number(rest & BITS_32));
  const hash = new Hash(0x43b0d7e5, 0x931e8875);
  const pool = [0, 1, 2, 3].map((at) => hash.of(entropy[at] ?? 0));
  for (let from = 0; from < 4; from++) {
    for (let to = 0; to < 4; to++) {
      if (from !== to) pool[to] = mixedWords(pool[to], hash.of(pool[from]));
    }
  }
  for (const word of entropy.slice(4)) {
    for (let to = 0; to < 4; to++) pool[to] = mixedWords(pool[to], hash.of(word));
  }
  const output = new Hash(0x8b51f9dd, 0x58f38ded);
  const halves = Array.from({ length: 2 * count }, (_, at) => BigInt(output.of(pool[at % 4])));
  return Array.from({ length: count }, (_, at) => halves[2 * at] | (halves[2 * at + 1] << 32n));
}

class Random {
  /** seed: a whole number of at least 0, or a BigInt. */
  constructor(seed) {
    const [high, low, highOfStream, lowOfStream] = wordsOfSeed(BigInt(seed), 4);
    this.increment = ((((highOfStream << 64n) | lowOfStream) << 1n) | 1n) & BITS_128;
    this.state = 0n;
    this.step();
    this.state = (this.state + ((high << 64n) | low)) & BITS_128;
    this.step();
    this.half = null;
  }

  step() {
    this.state = (this.state * MULTIPLIER + this.increment) & BITS_128;
  }

  /** 64 bits, a BigInt. */
  next64() {
    this.step();
    const folded = (this.state >> 64n) ^ (this.state & BITS_64), turn = this.state >> 122n;
    return ((folded >> turn) | (folded << (64n - turn))) & BITS_64;
  }

  /** 32 bits: those that are left of the last 64, or the low half of the next. */
  next32() {
    if (this.half !== null) {
      const word = this.half;
      this.half = null;
      return word;
    }
    const both = this.next64();
    this.half = both >> 32n;
    return both & BITS_32;
  }

  /** A whole number from 0 to n - 1. n: at most 2^32 - 1. A single number needs no bits. */
  below(n) {
    if (n === 1) return 0;
    const bound = BigInt(n);
    let product = this.next32() * bound;
    if ((product & BITS_32) < bound) {
      const threshold = ((1n << 32n) - bound) % bound;
      while ((product & BITS_32) < threshold) product = this.next32() * bound;
    }
    return Number(product >> 32n);
  }
}
