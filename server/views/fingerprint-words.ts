import { digestOf } from "#lib/contract/json/digest.ts";

/**
 * 256 plain words, no two of them one letter apart, so that four of them can be
 * read aloud and compared. Order is part of every fingerprint ever shown: a word
 * is never moved, replaced or removed.
 */
const words: ReadonlyArray<string> = `
acorn adobe agate alder almond amber anchor anvil apple apron arrow aspen atlas autumn badge
bagel bamboo banjo barley basil basket beacon beaver beetle bell birch bishop bison blanket
blossom bobbin bonnet bottle boulder bramble brass bread brick bridge bronze brook bucket
buckle bugle butter cabin cactus camel candle canoe canyon carbon cargo carpet carrot castle
cedar cello chalk cherry chestnut chimney cider circus citrus clay cliff clover cobalt cocoa
comet compass copper coral cotton coyote cradle crane crater crayon cricket crown crystal
curtain cymbal daisy dancer desert dingo dolphin domino donkey dragon drum dune eagle easel
ebony echo elbow emerald engine falcon fennel fern ferry fiddle finch flannel flint flute
forest fossil fountain fox galaxy garden garlic garnet gecko geyser ginger glacier glove
goblet gondola goose granite grape gravel guitar hammer harbor harp hazel hedge helmet heron
hickory honey hornet iceberg igloo indigo ink iris island ivory ivy jacket jaguar jasmine
jelly jigsaw juniper kayak kernel kettle kitten koala ladder lagoon lantern lapwing laurel
lava lemon lentil lily linen lizard llama lobster lotus lumber magnet mango maple marble
meadow melon mercury mint mirror monsoon mosaic muffin mustard napkin nectar needle nickel
nutmeg oak oasis ocean olive onion opal orbit orchid osprey otter oyster paddle palace
panther paper pearl pebble pepper piano pigeon pillow pine planet plaza plum poplar potato
prairie pumpkin quartz quilt rabbit radish raven ribbon river robin saffron salmon sandal
satin sparrow spruce squash tassel temple thistle tiger trumpet tulip tundra turnip turtle
velvet wagon walnut walrus tractor winter vanilla zebra zenith zinnia
`
  .trim()
  .split(/\s+/);

/** What a receipt stands for: this tool in this version, with exactly these arguments. */
export interface FingerprintOf {
  readonly toolName: string;
  /** Digest of the tool's contract when the call was declared (DU-19). */
  readonly toolDigest: string;
  readonly parametersDigest: string;
}

/** Four words from the first four bytes of the digest: 1 in 4.3 billion to be the same by chance. */
export const fingerprintWords = (call: FingerprintOf): string => {
  const digest = digestOf([call.toolName, call.toolDigest, call.parametersDigest]);
  return [0, 2, 4, 6].map((at) => words[Number.parseInt(digest.slice(at, at + 2), 16)]).join(" ");
};
