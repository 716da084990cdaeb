// look.js FOLDER: the site there in a browser, page by page, as a desktop and as a phone show it.  Prints what is wrong, and ends with 1 then.
//
// BROWSER is Chromium's command; pictures of some pages go to the folder that SHOTS names.
"use strict";

const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const puppeteer = require("puppeteer-core");

const KINDS = { ".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".json": "application/json", ".png": "image/png" };
const SCREENS = { desktop: { width: 1280, height: 900 }, phone: { width: 375, height: 812, isMobile: true, hasTouch: true } };
const SHOWN = ["index.html", "docs/quick-start.html", "docs/benchmarks.html", "docs/reference.html", "examples/sqlalchemy/index.html"];
const folder = path.resolve(process.argv[2]);
const wrong = [];

function files(under) {
	return fs.readdirSync(under, { withFileTypes: true }).flatMap((entry) => {
		const name = path.join(under, entry.name);
		return entry.isDirectory() ? files(name) : [path.relative(folder, name)];
	});
}

function serve() {
	const server = http.createServer((request, response) => {
		const name = path.join(folder, decodeURIComponent(new URL(request.url, "http://site").pathname));
		if (!name.startsWith(folder) || !fs.existsSync(name) || !fs.statSync(name).isFile()) {
			response.writeHead(404).end();
			return;
		}
		response.writeHead(200, { "Content-Type": KINDS[path.extname(name)] ?? "application/octet-stream" }).end(fs.readFileSync(name));
	});
	return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

async function main() {
	const pages = files(folder).filter((name) => name.endsWith(".html") && name !== "404.html").sort();
	const server = await serve();
	const origin = `http://127.0.0.1:${server.address().port}`;
	const browser = await puppeteer.launch({ executablePath: process.env.BROWSER, args: ["--no-sandbox", "--disable-gpu"] });
	const anchors = {}, links = [];
	let images = 0;
	for (const [screen, viewport] of Object.entries(SCREENS)) {
		const tab = await browser.newPage();
		let page;
		const say = (what) => wrong.push(`${page}, ${screen}: ${what}`);
		await tab.setViewport(viewport);
		tab.on("console", (message) => { if (["error", "warn"].includes(message.type())) say(`the console: ${message.text()}`); });
		tab.on("pageerror", (error) => say(`an error: ${error.message}`));
		tab.on("requestfailed", (request) => say(`not loaded: ${request.url()}`));
		tab.on("response", (response) => { if (response.status() >= 400) say(`${response.status()}: ${response.url()}`); });
		tab.on("request", (request) => { if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(`${origin}/`)) say(`a request elsewhere: ${request.url()}`); });
		for (page of pages) {
			await tab.goto(`${origin}/${page}`, { waitUntil: "load" });
			const seen = await tab.evaluate(async () => {
				await Promise.all([...document.images].map((image) => { image.loading = "eager"; return image.decode().catch(() => {}); }));
				return {
					ids: [...document.querySelectorAll("[id]")].map((element) => element.id),
					links: [...document.querySelectorAll("a[href]")].map((link) => link.href),
					images: [...document.images].map((image) => ({ source: image.src, width: image.naturalWidth })),
					width: document.scrollingElement.scrollWidth,
					letters: parseFloat(getComputedStyle(document.querySelector("article p") ?? document.body).fontSize),
				};
			});
			if (seen.width > viewport.width) say(`it is ${seen.width} pixels wide`);
			if (seen.letters < 12) say(`letters of ${seen.letters} pixels`);
			for (const image of seen.images) if (!image.width) say(`no image: ${image.source}`);
			images += seen.images.length;
			anchors[page] = new Set(seen.ids);
			links.push(...seen.links.map((link) => ({ page, link })));
			if (process.env.SHOTS && SHOWN.includes(page)) {
				await tab.screenshot({ path: path.join(process.env.SHOTS, `${page.replace(/\//g, "_").replace(".html", "")}-${screen}.png`) });
			}
		}
		page = "index.html";
		await tab.goto(`${origin}/${page}`, { waitUntil: "load" });
		await tab.click(viewport.isMobile ? "label.md-header__button[for=__search]" : ".md-search__input");
		await tab.waitForSelector(".md-search__input:focus", { timeout: 20000 }).catch(() => say("the search has no field"));
		await tab.type(".md-search__input", "rotate");
		await tab.waitForSelector(".md-search-result__item a", { visible: true, timeout: 20000 }).catch(() => say("the search finds nothing"));
		if (process.env.SHOTS) {
			await new Promise((resolve) => setTimeout(resolve, 1000));
			await tab.screenshot({ path: path.join(process.env.SHOTS, `search-${screen}.png`) });
		}
		await tab.close();
	}
	await browser.close();
	server.close();
	for (const { page, link } of links) {
		const url = new URL(link);
		if (url.origin !== origin) continue;
		const target = decodeURIComponent(url.pathname).slice(1) || "index.html", anchor = decodeURIComponent(url.hash.slice(1));
		if (!fs.existsSync(path.join(folder, target)) || fs.statSync(path.join(folder, target)).isDirectory()) wrong.push(`${page}: there is no ${target}`);
		else if (anchor && anchors[target] && !anchors[target].has(anchor)) wrong.push(`${page}: ${target} has no #${anchor}`);
	}
	for (const line of new Set(wrong)) console.log(line);
	console.log(`${pages.length} pages, ${links.length} links, ${images} images, on ${Object.keys(SCREENS).join(" and ")}: ${wrong.length ? `${wrong.length} things are wrong` : "nothing is wrong"}`);
	process.exit(wrong.length ? 1 : 0);
}

main();
