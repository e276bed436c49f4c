// The HTML report. The data are in a block of JSON, and reach the page only as text: nothing in them is markup.
(function () {
  "use strict";

  var data = JSON.parse(document.getElementById("data").textContent);
  var steps = data.steps, spans = data.spans, words = data.verdicts, kinds = data.kinds;
  var SIGNS = {
    "succeeded": "✓", "failed": "✗", "tolerated": "!", "cancelled": "⊘", "skipped": "–", "cached": "◆",
    "interrupted": "?", "running": "▸", "waiting": "…", "not started": "·", "terminated": "⊘"
  };
  var WAITS = { slot: "waits for a slot", group: "waits until its group has room", pool: "waits for a pool", rate: "waits for the rate of a pool", cluster: "waits for the cluster", backoff: "waits for the next attempt" };
  var ATTEMPTS = { running: "runs", serving: "is ready", asking: "waits for approval", sleeping: "waits for a time", cached: "cached" };

  function id(name) { return document.getElementById(name); }

  function make(tag, text, style) {
    var element = document.createElement(tag);
    if (text !== undefined && text !== null) { element.textContent = text; }
    if (style) { element.className = style; }
    return element;
  }

  function add(parent) {
    for (var i = 1; i < arguments.length; i += 1) { if (arguments[i]) { parent.append(arguments[i]); } }
    return parent;
  }

  // Texts

  function time(us) {
    if (us === null || us === undefined) { return ""; }
    var ms = Math.trunc(us / 1000);
    function two(number) { return String(number).padStart(2, "0"); }
    if (ms < 1) { return us + " µs"; }
    if (ms < 1000) { return ms + " ms"; }
    if (ms < 60000) { return Math.trunc(ms / 1000) + "." + Math.trunc(ms / 100) % 10 + " s"; }
    var s = Math.trunc(ms / 1000), m = Math.trunc(s / 60), h = Math.trunc(m / 60);
    if (h === 0) { return m + " m " + two(s % 60) + " s"; }
    if (h < 24) { return h + " h " + two(m % 60) + " m"; }
    return Math.trunc(h / 24) + " d " + two(h % 24) + " h";
  }

  function size(bytes) {
    if (bytes === null || bytes === undefined) { return ""; }
    var unit = 1, names = ["B", "kB", "MB", "GB"];
    for (var i = 0; i < names.length; i += 1) {
      var whole = Math.trunc(bytes / unit);
      if (whole < 1000 || i === 3) {
        return i > 0 && whole < 10 ? whole + "." + Math.trunc(bytes * 10 / unit) % 10 + " " + names[i] : whole + " " + names[i];
      }
      unit *= 1000;
    }
  }

  function style(word) { return word.replace(" ", ""); }

  function verdict(word) { return make("span", SIGNS[word] + " " + word, "verdict " + style(word)); }

  function open(step, text) {
    var button = make("button", text || steps.name[step]);
    button.type = "button";
    button.title = steps.name[step];
    button.addEventListener("click", function () { show(step); });
    return button;
  }

  // Spans: step, kind, start, duration, lane, attempt, verdict, each as a column.

  var WIDTH = 7, count = spans.length / WIDTH;
  var SLOT = kinds.indexOf("slot"), GROUP = kinds.indexOf("group"), POOL = kinds.indexOf("pool"), RATE = kinds.indexOf("rate"), CLUSTER = kinds.indexOf("cluster"), BACKOFF = kinds.indexOf("backoff"),
    RUNNING = kinds.indexOf("running"), SERVING = kinds.indexOf("serving"), CACHED = kinds.indexOf("cached");
  function stepOf(i) { return spans[i * WIDTH]; }
  function kindOf(i) { return spans[i * WIDTH + 1]; }
  function startOf(i) { return spans[i * WIDTH + 2]; }
  function lengthOf(i) { return spans[i * WIDTH + 3]; }
  function endOf(i) { return startOf(i) + lengthOf(i); }
  function laneOf(i) { return spans[i * WIDTH + 4]; }
  function attemptOf(i) { return spans[i * WIDTH + 5]; }
  function wordOf(i) { var word = spans[i * WIDTH + 6]; return word < 0 ? null : words[word]; }
  function isWait(i) { var kind = kindOf(i); return kind === SLOT || kind === GROUP || kind === POOL || kind === RATE || kind === CLUSTER || kind === BACKOFF; }

  var total = steps.name.length;
  function column(value) { return new Array(total).fill(value); }
  // What the table shows of the spans of each step.
  steps.start = column(null); steps.run = column(null); steps.wait = column(null); steps.backoff = column(null);
  steps.attempts = column(0); steps.first = column(-1); steps.last = column(-1);
  for (var i = 0; i < count; i += 1) {
    var step = stepOf(i), kind = kindOf(i);
    if (steps.first[step] < 0) { steps.first[step] = i; }
    steps.last[step] = i;
    if (kind === BACKOFF) { steps.backoff[step] += lengthOf(i); }
    else if (isWait(i)) { steps.wait[step] += lengthOf(i); }
    else if (kind !== SERVING) {
      steps.attempts[step] += 1;
      if (steps.start[step] === null) { steps.start[step] = startOf(i); }
      if (kind !== CACHED) { steps.run[step] += lengthOf(i); }
    }
  }
  steps.usual = steps.plan.map(function (plan) { return plan < 0 ? null : data.plans[plan].usual; });
  steps.word = steps.verdict.map(function (word) { return words[word]; });
  var critical = new Set(data.chain.map(function (link) { return link[0]; }));

  function describe(i) {
    var kind = kinds[kindOf(i)], word = wordOf(i), text = steps.name[stepOf(i)];
    text += "\n" + (isWait(i) ? WAITS[kind] : ATTEMPTS[kind]);
    if (attemptOf(i) > 1) { text += ", attempt " + attemptOf(i); }
    if (laneOf(i) >= 0) { text += ", slot " + (laneOf(i) + 1); }
    if (kind !== "cached") { text += ", " + time(lengthOf(i)); }
    text += " from " + time(startOf(i));
    if (word && word !== kind) { text += ": " + word; }
    if (data.failures[i]) { text += "\n" + data.failures[i]; }
    if (critical.has(stepOf(i))) { text += "\non the critical path"; }
    return text;
  }

  // The head

  function head() {
    document.title = data.title + ": " + data.headline;
    id("title").textContent = data.title;
    add(id("state"), make("span", SIGNS[data.verdict] + " " + data.headline, "verdict " + style(data.verdict)));
    add(id("counts"), data.counts.map(function (pair) { return pair[1] + " " + pair[0]; }).join(", "));
    data.gaps.forEach(function (gap) { add(id("gaps"), make("p", gap)); });
    id("gaps").hidden = data.gaps.length === 0;
    data.facts.forEach(function (fact) { add(id("facts-body"), make("dt", fact[0]), make("dd", fact[1])); });
    if (data.failure) {
      var body = id("failure-body"), failure = data.failure;
      id("failure").hidden = false;
      id("to-failure").hidden = false;
      var sentence = make("p", null, "problem");
      if (failure.step >= 0) { add(sentence, verdict("failed"), " ", open(failure.step), " "); }
      add(body, add(sentence, failure.message));
      if (failure.diagnostic) { add(body, text(failure.diagnostic, "Place in the workflow file")); }
      if (failure.step >= 0) { add(body, log(failure.step, "Last lines")); }
    }
    var definition = data.definition;
    id("definition-name").textContent = definition.name;
    id("definition-text").textContent = definition.text;
  }

  function text(content, label) {
    var box = make("pre", content);
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", label);
    return box;
  }

  function log(step, label) {
    var lines = data.logs[step];
    if (!lines) { return null; }
    var box = make("div");
    add(box, make("h3", label), text(lines.join("\n"), label + " of " + steps.name[step]));
    add(box, make("p", "All lines: " + data.logCommand + " '" + steps.name[step].replace(/'/g, "'\\''") + "'", "hint"));
    return box;
  }

  // Tables

  function table(heads, rows) {
    var whole = make("table"), first = make("tr");
    heads.forEach(function (name) { var cell = make("th", name); cell.scope = "col"; add(first, cell); });
    add(whole, add(make("thead"), first));
    var body = make("tbody");
    rows.forEach(function (cells) {
      var row = make("tr");
      cells.forEach(function (cell) {
        var place = make("td", null, cell && cell.nodeName === "BUTTON" ? "step" : "text");
        add(row, add(place, cell === null ? "" : cell));
      });
      add(body, row);
    });
    return add(whole, body);
  }

  function sections() {
    if (data.slow.length > 0) {
      add(id("slow-body"), table(["Step", "Time of its attempts", "Usual", "Held up"], data.slow.map(function (slow) {
        return [open(slow[0]), time(steps.run[slow[0]]), time(steps.usual[slow[0]]), slow[1]];
      })));
    }
    if (data.groups.length > 0) {
      add(id("groups-body"), table(["Group or loop", "State", "Time", "Attempts", "Elements", "Not started", "Winner"],
        data.groups.map(function (group) {
          return [group[0], verdict(group[1]), time(group[2]), String(group[3])].concat(group.slice(4).map(function (value) {
            return value === null ? "" : String(value);
          }));
        })));
    }
    path();
    data.use.forEach(use);
  }

  function path() {
    if (data.chain.length === 0) { add(id("path-body"), make("p", "It is not known.")); return; }
    var list = make("ol", null, "path"), shown = data.chain.slice(-200);
    if (shown.length < data.chain.length) {
      list.start = data.chain.length - shown.length + 1;
      add(id("path-body"), make("p", "The last " + shown.length + " of " + data.chain.length + " steps.", "hint"));
    }
    shown.forEach(function (link) {
      var item = make("li"), waited = link[2] >= 1000 ? ", after " + time(link[2]) + " of waiting" : "";
      add(list, add(item, open(link[0]), " " + time(link[1]) + waited + " ", verdict(steps.word[link[0]])));
    });
    add(id("path-body"), list);
  }

  var SVG = "http://www.w3.org/2000/svg";

  function shape(tag, attributes) {
    var element = document.createElementNS(SVG, tag);
    Object.keys(attributes).forEach(function (name) { element.setAttribute(name, attributes[name]); });
    return element;
  }

  // The use of slots, or of a pool: its name, size, peak, and its mean in equal intervals.
  function use(series) {
    var means = series[3], limit = Math.max(series[1] || 0, series[2], 1), sum = 0;
    var line = "M0 100", x = 0, width = 1000 / Math.max(1, means.length);
    means.forEach(function (mean) {
      sum += mean;
      var y = 100 - 92 * mean / limit;
      line += "V" + y.toFixed(1) + "H" + (x += width).toFixed(1);
    });
    var average = means.length ? (sum / means.length).toFixed(1) : "0";
    var words = series[0] + ": on average " + average + (series[1] ? " of " + series[1] : "") + " in use, at most " + series[2];
    var picture = shape("svg", { viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", "aria-label": words });
    add(picture, shape("path", { "class": "area", d: line + "V100Z" }));
    if (series[1]) {
      var y = 100 - 92 * series[1] / limit;
      add(picture, shape("path", { "class": "limit", d: "M0 " + y + "H1000" }));
    }
    add(id("use-body"), add(make("figure", null, "use"), make("figcaption", words), picture));
  }

  // The page of a step

  function show(step, isFollowed) {
    var body = id("page-body"), plan = steps.plan[step] < 0 ? null : data.plans[steps.plan[step]];
    id("page-title").textContent = steps.name[step];
    body.replaceChildren();
    var facts = make("dl");
    function fact(name, value) { if (value !== null && value !== "" && value !== undefined) { add(facts, make("dt", name), add(make("dd"), value)); } }
    fact("Name", plan && plan.name);
    fact("Element", data.elements[step]);
    fact("State", verdict(steps.word[step]));
    fact("Reason", data.reasons[step]);
    fact("Started", steps.start[step] === null ? "" : time(steps.start[step]) + " after the start of the run");
    fact("Time of its attempts", time(steps.run[step]));
    fact("Waited", time(steps.wait[step]));
    fact("Backoff", time(steps.backoff[step]));
    fact("CPU", time(steps.cpu[step]));
    fact("Memory", size(steps.memory[step]));
    fact("Output", size(steps.output[step]));
    fact("Transferred", size(steps.net[step]));
    if (plan) {
      fact("Last runs", plan.recent.length ? plan.recent.map(time).join(", ") + " (median " + time(plan.usual) + ")" : "");
      fact("Place", plan.place);
    }
    add(body, facts);
    if (steps.first[step] >= 0) { add(body, make("h3", "What it did"), attempts(step)); }
    if (data.outputs[step]) {
      add(body, make("h3", "Outputs"), table(["Name", "Value"], data.outputs[step].map(function (output) {
        return [output[0], output[1] === null ? "secret" : output[1]];
      })));
    }
    add(body, log(step, "Last lines of its log"));
    if (plan && plan.source) { add(body, make("h3", "Definition"), text(plan.source, "Definition of " + steps.name[step])); }
    var opens = !id("page").open;
    if (opens) { id("page").showModal(); }
    body.scrollTop = 0;
    // Back closes the page of the step.
    if (!isFollowed) { mark("#step=" + encodeURIComponent(steps.name[step]), opens); }
  }

  function attempts(step) {
    var rows = [];
    for (var i = steps.first[step]; i <= steps.last[step] && rows.length < 200; i += 1) {
      var word = wordOf(i), kind = kinds[kindOf(i)];
      rows.push([
        isWait(i) ? WAITS[kind] : "attempt " + attemptOf(i) + " " + ATTEMPTS[kind], time(startOf(i)), time(lengthOf(i)),
        laneOf(i) < 0 ? "" : "slot " + (laneOf(i) + 1), word ? verdict(word) : "", data.failures[i] || ""
      ]);
    }
    return table(["What", "From", "Time", "Slot", "State", "Reason"], rows);
  }

  function mark(hash, isNew) {
    // A page from a file has no origin; some browsers refuse this then.
    try {
      if (isNew) { history.pushState({ opened: true }, "", hash); }
      else { history.replaceState(hash ? history.state : null, "", hash || location.pathname + location.search); }
    } catch (error) { return; }
  }

  function namesStep() { return location.hash.indexOf("#step=") === 0; }

  function follow() {
    if (!namesStep()) {
      if (id("page").open) { id("page").close(); }
      return;
    }
    var step = steps.name.indexOf(decodeURIComponent(location.hash.slice(6)));
    if (step >= 0) { show(step, true); }
  }

  function closed() {
    if (!namesStep()) { return; }
    if (history.state && history.state.opened) { history.back(); } else { mark(""); }
  }

  // The table of steps: only the visible rows are in the document.

  var COLUMNS = [
    ["Step", "name", null], ["State", "word", null], ["Start", "start", time], ["Time", "run", time], ["Usual", "usual", time],
    ["Wait", "wait", time], ["Backoff", "backoff", time], ["Attempts", "attempts", String], ["CPU", "cpu", time],
    ["Memory", "memory", size], ["Output", "output", size], ["I/O", "net", size], ["Reason", "reason", null]
  ];
  // By this, "each[9]" is before "each[10]".
  var natural = new Intl.Collator("en", { numeric: true });
  var ROW = 30, order = [], sorted = { column: -1, up: true };
  steps.reason = column("");
  Object.keys(data.reasons).forEach(function (step) { steps.reason[step] = data.reasons[step]; });

  function isCalled(step, part) {
    var plan = data.plans[steps.plan[step]];
    return steps.name[step].toLowerCase().indexOf(part) >= 0 || (plan && plan.name && plan.name.toLowerCase().indexOf(part) >= 0);
  }

  function choose() {
    var wanted = id("find").value.toLowerCase(), only = id("only").value;
    order = [];
    for (var i = 0; i < total; i += 1) {
      if (only && steps.word[i] !== only) { continue; }
      if (wanted && !isCalled(i, wanted)) { continue; }
      order.push(i);
    }
    if (sorted.column >= 0) {
      var values = steps[COLUMNS[sorted.column][1]], sign = sorted.up ? 1 : -1;
      order.sort(function (a, b) {
        var x = values[a], y = values[b];
        if (x === y) { return a - b; }
        if (x === null || x === "") { return 1; }
        if (y === null || y === "") { return -1; }
        return (typeof x === "string" ? natural.compare(x, y) || (x < y ? -1 : 1) : x < y ? -1 : 1) * sign;
      });
    }
    id("found").textContent = order.length === total ? total + " steps" : order.length + " of " + total + " steps";
    id("table").setAttribute("aria-rowcount", order.length + 1);
    rows();
  }

  function rows(all) {
    var box = id("list"), body = id("body");
    var first = all ? 0 : Math.max(0, Math.floor(box.scrollTop / ROW) - 10);
    var last = all ? Math.min(order.length, 1000) : Math.min(order.length, first + Math.ceil(box.clientHeight / ROW) + 20);
    var kept = document.activeElement && body.contains(document.activeElement) ? document.activeElement.dataset.step : null;
    var fresh = document.createDocumentFragment();
    gap(fresh, first * ROW);
    for (var place = first; place < last; place += 1) { add(fresh, row(order[place], place)); }
    gap(fresh, all ? 0 : (order.length - last) * ROW);
    body.replaceChildren(fresh);
    if (kept !== null) {
      var again = body.querySelector("button[data-step=\"" + kept + "\"]");
      if (again) { again.focus({ preventScroll: true }); }
    }
  }

  function gap(parent, height) {
    if (height <= 0) { return; }
    var row = make("tr", null, "gap"), cell = make("td");
    row.setAttribute("aria-hidden", "true");
    cell.colSpan = COLUMNS.length;
    cell.style.height = height + "px";
    add(parent, add(row, cell));
  }

  function row(step, place) {
    var element = make("tr");
    element.setAttribute("aria-rowindex", place + 2);
    COLUMNS.forEach(function (column) {
      var cell = make("td"), value = steps[column[1]][step];
      if (column[1] === "name") {
        cell.className = "step";
        var button = open(step);
        button.dataset.step = step;
        var plan = data.plans[steps.plan[step]];
        if (plan && plan.name) { button.title += "\n" + plan.name; }
        add(cell, button);
      } else if (column[1] === "word") { add(cell, verdict(value)); }
      else if (column[2]) {
        cell.className = "number";
        cell.textContent = column[1] === "attempts" && value === 0 ? "" : column[2](value);
      } else {
        cell.className = "text";
        cell.textContent = value;
        cell.title = value;
      }
      add(element, cell);
    });
    return element;
  }

  function list() {
    COLUMNS.forEach(function (column, place) {
      var cell = make("th", null, column[2] ? "number" : ""), button = make("button", column[0]);
      cell.scope = "col";
      button.type = "button";
      button.addEventListener("click", function () {
        sorted = { column: place, up: sorted.column === place ? !sorted.up : !column[2] };
        Array.prototype.forEach.call(id("heads").children, function (head, index) {
          if (index === place) { head.setAttribute("aria-sort", sorted.up ? "ascending" : "descending"); }
          else { head.removeAttribute("aria-sort"); }
        });
        id("list").scrollTop = 0;
        choose();
      });
      add(id("heads"), add(cell, button));
    });
    var present = new Set(steps.word);
    add(id("only"), new Option("all", ""));
    words.forEach(function (word) { if (present.has(word)) { add(id("only"), new Option(word, word)); } });
    id("find").addEventListener("input", choose);
    id("only").addEventListener("change", choose);
    var waits = false;
    id("list").addEventListener("scroll", function () {
      if (waits) { return; }
      waits = true;
      requestAnimationFrame(function () { waits = false; rows(); });
    });
    window.addEventListener("beforeprint", function () { rows(true); });
    window.addEventListener("afterprint", function () { rows(); });
    choose();
  }

  // The timeline

  var canvas = id("canvas"), chart = id("chart"), pen = canvas.getContext("2d");
  var LINE = 20, AXIS = 24, view = { from: 0, perPixel: 1, top: 0 }, mode = "slots", selected = -1;
  var layouts = {}, byStart = [], colours = {}, patterns = {};

  // Assigns rows to spans so that no two in a row overlap: those that end first make room first.
  function pack(list, offset, rowOf) {
    var heap = [], used = 0;
    function before(a, b) { return heap[a].end < heap[b].end || (heap[a].end === heap[b].end && heap[a].row < heap[b].row); }
    function swap(a, b) { var kept = heap[a]; heap[a] = heap[b]; heap[b] = kept; }
    function up(at) { while (at > 0 && before(at, (at - 1) >> 1)) { swap(at, (at - 1) >> 1); at = (at - 1) >> 1; } }
    function down(at) {
      for (;;) {
        var least = at, left = 2 * at + 1;
        if (left < heap.length && before(left, least)) { least = left; }
        if (left + 1 < heap.length && before(left + 1, least)) { least = left + 1; }
        if (least === at) { return; }
        swap(at, least);
        at = least;
      }
    }
    list.forEach(function (i) {
      if (heap.length > 0 && heap[0].end <= startOf(i)) {
        rowOf[i] = heap[0].row;
        heap[0].end = endOf(i);
        down(0);
      } else {
        rowOf[i] = offset + used;
        heap.push({ end: endOf(i), row: offset + used });
        used += 1;
        up(heap.length - 1);
      }
    });
    return used;
  }

  function layout(name) {
    if (layouts[name]) { return layouts[name]; }
    var rowOf = new Int32Array(count), labels = [], rowCount = 0;
    if (name === "steps") {
      for (var i = 0; i < count; i += 1) { rowOf[i] = stepOf(i); }
      rowCount = total;
      labels = steps.name;
    } else {
      var others = [], waits = [];
      byStart.forEach(function (i) {
        if (laneOf(i) >= 0) { rowOf[i] = laneOf(i); } else if (isWait(i)) { waits.push(i); } else { others.push(i); }
      });
      for (var lane = 0; lane < data.lanes; lane += 1) { labels.push("slot " + (lane + 1)); }
      var free = pack(others, data.lanes, rowOf);
      if (free > 0) { labels[data.lanes] = "no slot"; }
      var waiting = pack(waits, data.lanes + free, rowOf);
      if (waiting > 0) { labels[data.lanes + free] = "waiting"; }
      rowCount = data.lanes + free + waiting;
    }
    // The spans of each row, in order of time.
    var offsets = new Int32Array(rowCount + 1), members = new Int32Array(count);
    for (var j = 0; j < count; j += 1) { offsets[rowOf[j] + 1] += 1; }
    for (var r = 0; r < rowCount; r += 1) { offsets[r + 1] += offsets[r]; }
    var next = offsets.slice();
    byStart.forEach(function (i) { members[next[rowOf[i]]] = i; next[rowOf[i]] += 1; });
    layouts[name] = { rows: rowCount, labels: labels, rowOf: rowOf, offsets: offsets, members: members };
    return layouts[name];
  }

  function theme() {
    var values = getComputedStyle(document.documentElement);
    ["paper", "panel", "text", "soft", "line", "link", "wait", "critical", "succeeded", "failed", "tolerated", "cancelled",
      "cached", "interrupted", "running"].forEach(function (name) { colours[name] = values.getPropertyValue("--" + name).trim(); });
    patterns = {
      failed: hatch(colours.failed, "cross"), tolerated: hatch(colours.tolerated, "rising"), cancelled: hatch(colours.cancelled, "rising"), terminated: hatch(colours.cancelled, "rising"),
      interrupted: hatch(colours.interrupted, "falling"), succeeded: colours.succeeded, running: colours.running,
      slot: hatch(colours.wait, "dots"), group: hatch(colours.wait, "cross"), pool: hatch(colours.wait, "upright"), rate: hatch(colours.wait, "rising"), cluster: hatch(colours.wait, "falling"), backoff: hatch(colours.wait, "level"),
      asking: hatch(colours.running, "dots"), sleeping: hatch(colours.wait, "falling"), cached: colours.cached
    };
  }

  function hatch(colour, kind) {
    var tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    var ink = tile.getContext("2d");
    ink.strokeStyle = ink.fillStyle = colour;
    ink.globalAlpha = kind === "cross" || kind === "rising" || kind === "falling" ? 0.45 : 0.12;
    ink.fillRect(0, 0, 8, 8);
    ink.globalAlpha = 1;
    ink.lineWidth = 1.5;
    ink.beginPath();
    if (kind === "rising" || kind === "cross") { ink.moveTo(-2, 10); ink.lineTo(10, -2); ink.moveTo(-2, 2); ink.lineTo(2, -2); ink.moveTo(6, 10); ink.lineTo(10, 6); }
    if (kind === "falling" || kind === "cross") { ink.moveTo(-2, -2); ink.lineTo(10, 10); ink.moveTo(6, -2); ink.lineTo(10, 2); ink.moveTo(-2, 6); ink.lineTo(2, 10); }
    if (kind === "upright") { ink.moveTo(2, 0); ink.lineTo(2, 8); ink.moveTo(6, 0); ink.lineTo(6, 8); }
    if (kind === "level") { ink.moveTo(0, 4); ink.lineTo(5, 4); }
    ink.stroke();
    if (kind === "dots") { ink.fillRect(1, 1, 2, 2); ink.fillRect(5, 5, 2, 2); }
    return pen.createPattern(tile, "repeat");
  }

  function look(i) {
    var kind = kinds[kindOf(i)];
    if (kind !== "running" && kind !== "serving") { return kind; }
    return wordOf(i) || "running";
  }

  function gutter() { return mode === "steps" ? Math.min(240, chart.clientWidth / 3) : 76; }
  function width() { return Math.max(50, chart.clientWidth - gutter()); }
  function height() { return canvas.clientHeight - AXIS; }
  function x(moment) { return gutter() + (moment - view.from) / view.perPixel; }

  function limit() {
    var widest = Math.max(1, data.duration) * 1.02 / width();
    view.perPixel = Math.min(widest, Math.max(view.perPixel, 0.5));
    view.from = Math.min(Math.max(view.from, 0), Math.max(0, data.duration * 1.02 - view.perPixel * width()));
    view.top = Math.min(Math.max(view.top, 0), Math.max(0, layout(mode).rows * LINE - height()));
  }

  function everything() {
    view = { from: 0, perPixel: Infinity, top: 0 };
    draw();
  }

  var pending = false;
  function draw() {
    if (pending) { return; }
    pending = true;
    requestAnimationFrame(function () { pending = false; paint(); });
  }

  function paint() {
    var rows = layout(mode), ratio = window.devicePixelRatio || 1;
    var tall = AXIS + Math.min(Math.max(rows.rows, 3) * LINE, 420);
    if (canvas.width !== Math.round(chart.clientWidth * ratio) || canvas.height !== Math.round(tall * ratio)) {
      canvas.style.height = tall + "px";
      canvas.width = Math.round(chart.clientWidth * ratio);
      canvas.height = Math.round(tall * ratio);
    }
    limit();
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = colours.panel;
    pen.fillRect(0, 0, chart.clientWidth, tall);
    pen.font = "12px system-ui, Helvetica, Arial, sans-serif";
    pen.textBaseline = "middle";
    axis(tall);
    pen.save();
    pen.beginPath();
    pen.rect(0, AXIS, chart.clientWidth, tall - AXIS);
    pen.clip();
    var first = Math.floor(view.top / LINE), last = Math.min(rows.rows, Math.ceil((view.top + tall) / LINE));
    for (var r = first; r < last; r += 1) { paintRow(rows, r, AXIS + r * LINE - view.top); }
    pen.fillStyle = colours.panel;
    pen.fillRect(0, AXIS, gutter() - 4, tall);
    pen.fillStyle = colours.soft;
    for (r = first; r < last; r += 1) {
      if (rows.labels[r]) { label(rows.labels[r], 6, AXIS + r * LINE - view.top + LINE / 2, gutter() - 14); }
    }
    pen.restore();
  }

  function axis(tall) {
    var step = Math.pow(10, Math.ceil(Math.log10(view.perPixel * 70)));
    if (step / 5 > view.perPixel * 70) { step /= 5; } else if (step / 2 > view.perPixel * 70) { step /= 2; }
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    for (var moment = Math.ceil(view.from / step) * step; x(moment) < chart.clientWidth; moment += step) {
      pen.beginPath();
      pen.moveTo(Math.round(x(moment)) + 0.5, AXIS);
      pen.lineTo(Math.round(x(moment)) + 0.5, tall);
      pen.stroke();
      pen.fillStyle = colours.soft;
      pen.fillText(tick(moment, step), x(moment) + 3, AXIS / 2);
    }
    pen.setLineDash([5, 3]);
    data.parts.slice(1).forEach(function (part) {
      if (x(part[0]) < gutter()) { return; }
      pen.strokeStyle = pen.fillStyle = colours.text;
      pen.beginPath();
      pen.moveTo(x(part[0]), 0);
      pen.lineTo(x(part[0]), tall);
      pen.stroke();
      pen.fillText("resumed", x(part[0]) + 4, AXIS - 6);
    });
    pen.setLineDash([]);
  }

  function tick(moment, step) {
    if (step >= 60e6) { return time(moment); }
    var digits = Math.max(0, Math.ceil(-Math.log10(step / 1e6)));
    return (moment / 1e6).toFixed(digits) + " s";
  }

  function label(name, left, middle, room) {
    if (room < 14) { return; }
    var text = name;
    if (pen.measureText(text).width > room) {
      var fitting = Math.max(1, Math.floor(text.length * room / pen.measureText(text).width) - 1);
      text = text.slice(0, fitting) + "…";
    }
    pen.fillText(text, left, middle);
  }

  // The first span of a row that ends after a moment.
  function firstAfter(rows, r, moment) {
    var low = rows.offsets[r], high = rows.offsets[r + 1];
    while (low < high) {
      var middle = (low + high) >> 1;
      if (endOf(rows.members[middle]) < moment) { low = middle + 1; } else { high = middle; }
    }
    return low;
  }

  function paintRow(rows, r, top) {
    var until = view.from + view.perPixel * width(), covered = {};
    for (var at = firstAfter(rows, r, view.from); at < rows.offsets[r + 1]; at += 1) {
      var i = rows.members[at];
      if (startOf(i) > until) { break; }
      var left = x(startOf(i)), right = x(endOf(i));
      // Of spans that share a pixel and look alike, one is drawn; a wait hides no attempt.
      var kind = look(i);
      if (right < covered[kind] && i !== selected) { continue; }
      covered[kind] = Math.max(left + 1, right);
      paintSpan(i, left, right, top);
    }
  }

  function paintSpan(i, left, right, top) {
    var kind = look(i), wide = Math.max(right - left, 1.5), wait = isWait(i);
    var y = top + (wait ? 6 : 2), tall = LINE - (wait ? 12 : 4);
    pen.fillStyle = patterns[kind] || colours.wait;
    if (kind === "cached") {
      pen.beginPath();
      pen.moveTo(left, y); pen.lineTo(left + 6, y + tall / 2); pen.lineTo(left, y + tall); pen.lineTo(left - 6, y + tall / 2);
      pen.fill();
      wide = 6;
    } else { pen.fillRect(left, y, wide, tall); }
    if (critical.has(stepOf(i)) && !wait) { pen.fillStyle = colours.critical; pen.fillRect(left, y + tall - 1, wide, 3); }
    if (i === selected) { pen.strokeStyle = colours.text; pen.lineWidth = 2; pen.strokeRect(left - 1, y - 1, wide + 2, tall + 2); }
    if (wide > 24 && !wait && kind !== "cached") {
      var solid = kind === "succeeded" || kind === "running";
      var shown = Math.max(left, gutter()) + 4, name = (SIGNS[kind] || "") + " " + steps.name[stepOf(i)];
      if (!solid) {
        pen.fillStyle = colours.paper;
        pen.fillRect(shown - 2, y + 2, Math.min(pen.measureText(name).width + 4, right - shown), tall - 4);
      }
      pen.fillStyle = solid ? colours.paper : colours.text;
      label(name, shown, y + tall / 2 + 0.5, right - shown - 3);
    }
  }

  function spanAt(px, py) {
    var rows = layout(mode), r = Math.floor((py - AXIS + view.top) / LINE);
    if (py < AXIS || r < 0 || r >= rows.rows || px < gutter()) { return -1; }
    var moment = view.from + (px - gutter()) * view.perPixel, slack = 4 * view.perPixel;
    for (var at = firstAfter(rows, r, moment - slack); at < rows.offsets[r + 1]; at += 1) {
      var i = rows.members[at];
      if (startOf(i) > moment + slack) { return -1; }
      return i;
    }
    return -1;
  }

  function zoom(factor, px) {
    var at = view.from + (px - gutter()) * view.perPixel;
    view.perPixel /= factor;
    limit();
    view.from = at - (px - gutter()) * view.perPixel;
    draw();
  }

  function select(i) {
    selected = i;
    id("chart-now").textContent = describe(i).replace(/\n/g, ", ");
    var rows = layout(mode), top = rows.rowOf[i] * LINE;
    if (top < view.top || top + LINE > view.top + height()) { view.top = top - height() / 2; }
    if (endOf(i) < view.from || startOf(i) > view.from + view.perPixel * width()) { view.from = startOf(i) - view.perPixel * width() / 3; }
    draw();
  }

  function another(by) {
    if (count === 0) { return; }
    var at = selected < 0 ? (by > 0 ? -1 : 0) : byStart.indexOf(selected);
    select(byStart[(at + by + count) % count]);
  }

  function tip(event) {
    var box = canvas.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
    var i = spanAt(px, py), element = id("tip");
    element.hidden = i < 0;
    if (i < 0) { return; }
    element.textContent = describe(i);
    element.style.left = Math.max(0, Math.min(px + 14, chart.clientWidth - element.offsetWidth - 4)) + "px";
    element.style.top = Math.max(0, Math.min(py + 14, canvas.clientHeight - element.offsetHeight - 4)) + "px";
  }

  function timeline() {
    for (var i = 0; i < count; i += 1) { byStart.push(i); }
    byStart.sort(function (a, b) { return startOf(a) - startOf(b) || a - b; });
    theme();
    legend();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { theme(); legend(); draw(); });
    new ResizeObserver(draw).observe(chart);
    id("rows").addEventListener("change", function () { mode = id("rows").value; view.top = 0; draw(); });
    document.querySelectorAll("[data-zoom]").forEach(function (button) {
      button.addEventListener("click", function () {
        var how = button.dataset.zoom, middle = gutter() + width() / 2;
        if (how === "all") { everything(); } else { zoom(how === "in" ? 1.6 : 1 / 1.6, middle); }
      });
    });
    chart.addEventListener("wheel", function (event) {
      if (!event.ctrlKey && !event.metaKey) { return; }
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 300), event.clientX - canvas.getBoundingClientRect().left);
    }, { passive: false });
    var dragged = null, moved = 0;
    canvas.addEventListener("pointerdown", function (event) { dragged = event; moved = 0; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", function (event) {
      if (!dragged) { tip(event); return; }
      view.from -= (event.clientX - dragged.clientX) * view.perPixel;
      view.top -= event.clientY - dragged.clientY;
      moved += Math.abs(event.clientX - dragged.clientX) + Math.abs(event.clientY - dragged.clientY);
      dragged = event;
      id("tip").hidden = true;
      draw();
    });
    canvas.addEventListener("pointerup", function (event) {
      dragged = null;
      var box = canvas.getBoundingClientRect(), i = spanAt(event.clientX - box.left, event.clientY - box.top);
      if (moved < 4 && i >= 0) { select(i); show(stepOf(i)); }
    });
    canvas.addEventListener("pointercancel", function () { dragged = null; });
    canvas.addEventListener("pointerleave", function () { id("tip").hidden = true; });
    chart.addEventListener("keydown", keys);
    everything();
  }

  function keys(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    var middle = gutter() + width() / 2, far = 80 * view.perPixel;
    switch (event.key) {
    case "+": case "=": zoom(1.6, middle); break;
    case "-": zoom(1 / 1.6, middle); break;
    case "0": everything(); break;
    case "ArrowLeft": view.from -= far; draw(); break;
    case "ArrowRight": view.from += far; draw(); break;
    case "ArrowUp": view.top -= LINE; draw(); break;
    case "ArrowDown": view.top += LINE; draw(); break;
    case "n": case "N": another(1); break;
    case "p": case "P": another(-1); break;
    case "Enter": if (selected >= 0) { show(stepOf(selected)); } break;
    default: return;
    }
    event.preventDefault();
  }

  function legend() {
    var present = new Set();
    for (var i = 0; i < count; i += 1) { present.add(look(i)); }
    id("legend").replaceChildren();
    ["succeeded", "running", "failed", "tolerated", "cancelled", "terminated", "interrupted", "cached", "asking", "sleeping", "slot", "group", "pool", "rate", "cluster", "backoff"]
      .filter(function (kind) { return present.has(kind); }).forEach(function (kind) {
        var sample = document.createElement("canvas"), ink = sample.getContext("2d");
        sample.width = 22;
        sample.height = 13;
        ink.fillStyle = patterns[kind];
        ink.fillRect(0, 0, 22, 13);
        add(id("legend"), add(make("span"), sample, WAITS[kind] || (kind === "running" ? "running" : ATTEMPTS[kind]) || kind));
      });
  }

  // The graph

  function graph() {
    var box = id("drawing"), picture = box.querySelector("svg");
    if (!picture) {
      document.querySelectorAll("[data-graph]").forEach(function (button) { button.disabled = true; });
      return;
    }
    var natural = picture.viewBox.baseVal, scale = 1;
    function apply() {
      picture.setAttribute("width", Math.round(natural.width * scale));
      picture.setAttribute("height", Math.round(natural.height * scale));
    }
    function fit() { scale = Math.min(1, Math.max(0.1, (box.clientWidth - 4) / natural.width)); apply(); }
    document.querySelectorAll("[data-graph]").forEach(function (button) {
      button.addEventListener("click", function () {
        if (button.dataset.graph === "fit") { fit(); return; }
        scale = Math.min(3, Math.max(0.05, scale * (button.dataset.graph === "in" ? 1.3 : 1 / 1.3)));
        apply();
      });
    });
    if (natural.width < 2.5 * box.clientWidth) { fit(); }
  }

  head();
  sections();
  list();
  timeline();
  graph();
  id("close").addEventListener("click", function () { id("page").close(); });
  id("page").addEventListener("close", closed);
  id("page").addEventListener("click", function (event) { if (event.target === id("page")) { id("page").close(); } });
  window.addEventListener("hashchange", follow);
  follow();
  // For tests and for those who look at the data from the console.
  window.weftReport = {
    data: data,
    spanAt: function (name) {
      var step = steps.name.indexOf(name), i = steps.last[step], rows = layout(mode);
      return { x: x(startOf(i)) + Math.max(1, lengthOf(i) / view.perPixel / 2), y: AXIS + rows.rowOf[i] * LINE - view.top + LINE / 2 };
    },
    view: function () { return Object.assign({ selected: selected, rows: layout(mode).rows }, view); }
  };
}());
