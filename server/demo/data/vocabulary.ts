/** Words the bundled shop is made of; all invented for it. */

export const firstNames = [
  "Adele", "Amir", "Anouk", "Bastian", "Bea", "Caleb", "Carmen", "Dario", "Delia", "Edda", "Elias", "Esme",
  "Farah", "Finn", "Gideon", "Greta", "Hana", "Hugo", "Ilse", "Imran", "Jonah", "Juno", "Kaito", "Kira",
  "Lars", "Leila", "Malik", "Mira", "Nico", "Noor", "Orla", "Otis", "Petra", "Quentin", "Rosa", "Rune",
  "Saskia", "Selim", "Tamar", "Theo", "Ulla", "Uri", "Vera", "Viggo", "Wanda", "Xenia", "Yara", "Zoltan",
];

export const lastNames = [
  "Abara", "Almeida", "Bergstrom", "Bianchi", "Castell", "Chandra", "Dalgaard", "Dubois", "Eriksen", "Farouk",
  "Fontaine", "Galvez", "Grigoryan", "Halloran", "Hossain", "Ibarra", "Ivanova", "Jansen", "Kamara", "Kovacs",
  "Laurent", "Lindholm", "Mbeki", "Morales", "Nakagawa", "Nowak", "Obrien", "Ortega", "Petrov", "Quiroga",
  "Rahman", "Rossetti", "Sandoval", "Schreiber", "Tanaka", "Theroux", "Ueda", "Urbina", "Vasquez", "Vogel",
  "Whitfield", "Winters", "Xu", "Yamada", "Yilmaz", "Zamora", "Zeller", "Zuniga",
];

export const streets = [
  "Alder Lane", "Birch Street", "Canal Road", "Dune Avenue", "Ember Court", "Ferry Street", "Garnet Drive",
  "Harbor Way", "Ivy Terrace", "Juniper Road", "Kestrel Lane", "Linden Avenue", "Mill Street", "North Quay",
  "Orchard Road", "Pine Hollow", "Quarry Lane", "River Bend", "Station Road", "Thistle Street",
];

export const secondLines = ["", "", "", "Apt 2", "Apt 7", "Apt 15", "Floor 3", "Unit B", "Unit 12", "Suite 400"];

export const cities = [
  ["Portland", "OR", "97"], ["Austin", "TX", "78"], ["Boulder", "CO", "80"], ["Madison", "WI", "53"],
  ["Savannah", "GA", "31"], ["Tucson", "AZ", "85"], ["Duluth", "MN", "55"], ["Ithaca", "NY", "14"],
  ["Tacoma", "WA", "98"], ["Asheville", "NC", "28"], ["Santa Fe", "NM", "87"], ["Burlington", "VT", "05"],
] as const;

export interface ProductLine {
  readonly name: string;
  /** Lowest and highest price of its variants, in cents. */
  readonly cents: readonly [number, number];
  readonly options: Readonly<Record<string, ReadonlyArray<string>>>;
}

const colors = ["black", "white", "forest green", "slate blue", "brick red"];
const sizes = ["S", "M", "L", "XL"];

const line = (name: string, low: number, high: number, options: ProductLine["options"]): ProductLine => ({
  name,
  cents: [low, high],
  options,
});

export const productLines: ReadonlyArray<ProductLine> = [
  line("Rain Jacket", 8900, 14900, { color: colors, size: sizes }),
  line("Trail Shoes", 7900, 13900, { color: colors, size: ["38", "40", "42", "44"] }),
  line("Wool Sweater", 5900, 9900, { color: colors, size: sizes }),
  line("Linen Shirt", 3900, 6900, { color: colors, size: sizes }),
  line("Running Shorts", 2400, 3900, { color: colors, size: sizes }),
  line("Winter Gloves", 1900, 3400, { color: colors, size: ["S", "M", "L"] }),
  line("Canvas Tote", 1400, 2600, { color: colors, size: ["small", "large"] }),
  line("Travel Backpack", 7900, 15900, { color: colors, capacity: ["25 l", "35 l", "45 l"] }),
  line("Weekend Duffel", 6900, 11900, { color: colors, capacity: ["30 l", "50 l"] }),
  line("Leather Wallet", 2900, 4900, { color: ["black", "tan", "brown"], style: ["slim", "bifold"] }),
  line("Field Watch", 9900, 22900, { strap: ["leather", "nylon", "steel"], dial: ["white", "black", "green"] }),
  line("Sunglasses", 4900, 12900, { frame: ["round", "square"], lens: ["grey", "amber", "mirrored"] }),
  line("Umbrella", 1900, 3900, { color: colors, style: ["compact", "full length"] }),
  line("Water Bottle", 1500, 3900, { color: colors, capacity: ["500 ml", "750 ml", "1 l"] }),
  line("Travel Mug", 1700, 3200, { color: colors, capacity: ["350 ml", "450 ml"] }),
  line("Pour-over Set", 2900, 5900, { material: ["glass", "ceramic"], cups: ["2", "4"] }),
  line("Coffee Grinder", 4900, 18900, { drive: ["manual", "electric"], burr: ["steel", "ceramic"] }),
  line("Gooseneck Kettle", 5900, 12900, { color: ["black", "white", "steel"], capacity: ["0.8 l", "1.2 l"] }),
  line("Espresso Machine", 24900, 69900, { color: ["black", "steel", "red"], pressure: ["9 bar", "15 bar"] }),
  line("Toaster", 3900, 9900, { color: ["black", "white", "steel"], slots: ["2", "4"] }),
  line("Chef Knife", 4900, 15900, { blade: ["16 cm", "20 cm", "24 cm"], steel: ["stainless", "carbon"] }),
  line("Cutting Board", 1900, 5900, { wood: ["maple", "walnut", "bamboo"], size: ["small", "medium", "large"] }),
  line("Cast Iron Pan", 2900, 7900, { diameter: ["20 cm", "24 cm", "28 cm"], finish: ["raw", "enamelled"] }),
  line("Dutch Oven", 6900, 24900, { color: colors, capacity: ["4 l", "6 l"] }),
  line("Storage Jars", 1900, 4900, { count: ["3", "6"], lid: ["cork", "steel"] }),
  line("Linen Apron", 2400, 3900, { color: colors, length: ["short", "long"] }),
  line("Desk Lamp", 3900, 11900, { color: ["black", "white", "brass"], light: ["warm", "neutral", "adjustable"] }),
  line("Floor Lamp", 7900, 19900, { color: ["black", "brass"], shade: ["linen", "paper", "metal"] }),
  line("Desk Organizer", 1900, 4900, { wood: ["oak", "walnut"], drawers: ["1", "2", "3"] }),
  line("Standing Desk", 29900, 64900, { top: ["oak", "walnut", "white"], width: ["120 cm", "140 cm", "160 cm"] }),
  line("Task Chair", 14900, 44900, { color: ["black", "grey", "green"], armrests: ["none", "fixed", "adjustable"] }),
  line("Monitor Arm", 5900, 14900, { mounts: ["single", "dual"], color: ["black", "silver"] }),
  line("Mechanical Keyboard", 7900, 18900, { switches: ["linear", "tactile", "clicky"], layout: ["60 %", "75 %", "full"] }),
  line("Wireless Mouse", 2900, 8900, { color: ["black", "white", "graphite"], hand: ["right", "left"] }),
  line("Headphones", 8900, 34900, { type: ["over-ear", "on-ear", "in-ear"], color: ["black", "sand", "blue"] }),
  line("Bluetooth Speaker", 4900, 19900, { color: colors, size: ["pocket", "shelf"] }),
  line("Power Bank", 2400, 7900, { capacity: ["5 000 mAh", "10 000 mAh", "20 000 mAh"], color: ["black", "white"] }),
  line("Charging Dock", 2900, 7900, { devices: ["1", "2", "3"], color: ["black", "white"] }),
  line("E-Reader", 9900, 24900, { storage: ["8 GB", "32 GB"], screen: ["6 inch", "7 inch"] }),
  line("Tablet Stand", 1900, 4900, { material: ["aluminium", "wood"], color: ["silver", "natural", "black"] }),
  line("Yoga Mat", 2900, 8900, { color: colors, thickness: ["4 mm", "6 mm"] }),
  line("Kettlebell", 2900, 9900, { weight: ["8 kg", "12 kg", "16 kg", "20 kg"], finish: ["iron", "rubber"] }),
  line("Jump Rope", 900, 2900, { material: ["steel", "leather", "beaded"], length: ["2.5 m", "3 m"] }),
  line("Bike Light Set", 2400, 6900, { power: ["rechargeable", "battery"], brightness: ["200 lm", "400 lm", "800 lm"] }),
  line("Bike Helmet", 4900, 14900, { color: colors, size: ["M", "L"] }),
  line("Camping Stove", 3900, 12900, { fuel: ["gas", "alcohol"], burners: ["1", "2"] }),
  line("Two-person Tent", 14900, 39900, { color: ["green", "sand", "orange"], season: ["3 seasons", "4 seasons"] }),
  line("Sleeping Bag", 7900, 24900, { comfort: ["10 C", "0 C", "-10 C"], zip: ["left", "right"] }),
  line("Board Game", 2400, 5900, { edition: ["classic", "deluxe"], language: ["English", "Spanish"] }),
  line("Notebook Set", 1200, 2900, { ruling: ["plain", "lined", "dotted"], count: ["2", "4"] }),
];
