"use strict";

const element = (id) => document.getElementById(id);
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** An element of HTML with a text; what is in the text is never taken for HTML. */
function made(name, text = "", attributes = {}) {
  const one = document.createElement(name);
  one.textContent = text;
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  return one;
}

/** A row of a table. */
function row(name, values) {
  const tr = made("tr");
  tr.append(made("th", name, { scope: "row" }), ...values.map((value) => made("td", value)));
  return tr;
}

/** A part of a picture. */
function drawn(name, attributes, text = "") {
  const part = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
  part.textContent = text;
  return part;
}
